# Reference values for the regression of a protected attribute on labels, without a penalty: glm, nnet::multinom and lm,
# with HC3 errors written out. Run with: Rscript regression.R
suppressMessages(library(nnet))
show <- function(name, ...) cat(name, formatC(c(...), digits = 10, format = "g"), "\n")

i <- 1:400
x <- cbind(i %% 3 == 0, (i * i) %% 7 < 3, i %% 11 < 2, (i * 7) %% 13 < 4) * 1
noise <- (i * 37) %% 101
two <- (noise + 25 * x[, 1] - 15 * x[, 2] > 55) * 1
four <- ((i * 29) %% 97 + 20 * x[, 3]) %/% 30
number <- noise / 10 + 2 * x[, 4] + x[, 1] * ((i * 17) %% 5)

fit <- glm(two ~ x, family = binomial, control = list(epsilon = 1e-14, maxit = 100))
show("logistic coefficients", coef(fit)[-1])
show("logistic errors", sqrt(diag(vcov(fit)))[-1])

fit <- multinom(factor(four) ~ x, trace = FALSE, reltol = 1e-15, abstol = 1e-12, maxit = 2000)
for (g in 1:nrow(coef(fit))) show(paste("multinomial coefficients", g), coef(fit)[g, -1])
errors <- summary(fit)$standard.errors
for (g in 1:nrow(errors)) show(paste("multinomial errors", g), errors[g, -1])

fit <- lm(number ~ x)
X <- cbind(1, x)
bread <- solve(t(X) %*% X)
h <- rowSums((X %*% bread) * X)
hc3 <- bread %*% (t(X) %*% (X * (residuals(fit) / (1 - h))^2)) %*% bread
show("linear coefficients", coef(fit)[-1])
show("linear classical errors", sqrt(diag(vcov(fit)))[-1])
show("linear HC3 errors", sqrt(diag(hc3))[-1])
