# What R's survey package (4.1) says of a small log with weights that anybody can make again.
# Rscript survey.R
suppressMessages(library(survey))
options(digits = 13)
i <- 0:239
person <- (i * 7) %% 40
sex <- ifelse(person %% 3 == 0, 1, 0)
w <- 0.5 + ((i * 13) %% 17) / 5
y <- as.integer(((i * i + 3 * person) %% 11) < 4 + 2 * sex)
x <- ((i * 29 + 5 * person) %% 53) / 10 + sex
d <- data.frame(person, sex, w, y, x, g = factor((person * 5) %% 3))
designs <- list(
  people = svydesign(ids = ~person, weights = ~1, data = d),
  weights = svydesign(ids = ~1, weights = ~w, data = d),
  both = svydesign(ids = ~person, weights = ~w, data = d)
)
for (name in names(designs)) {
  cat(name, "\n")
  rates <- svyby(~y, ~sex, designs[[name]], svymean)
  print(c(rates$y, rates$se))
  for (formula in c(y ~ sex, x ~ sex)) print(summary(svyglm(formula, designs[[name]]))$coefficients["sex", 1:2])
  print(svychisq(~ g + y, designs[[name]], statistic = "F")$p.value)
}
# Gaps of groups to the first, medians with their intervals, and rates of one group.
for (name in names(designs)) {
  cat(name, "\n")
  for (formula in c(y ~ g, x ~ g)) print(summary(svyglm(formula, designs[[name]]))$coefficients[2:3, 1:2])
  for (s in 0:1) {
    part <- subset(designs[[name]], sex == s)
    print(svyquantile(~x, part, 0.5, interval.type = "beta", qrule = "math")[[1]][1, 1:3])
    print(c(svyciprop(~y, part, method = "beta"), attr(svyciprop(~y, part, method = "beta"), "ci"), SE(svymean(~y, part))))
  }
}
