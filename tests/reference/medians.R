# Intervals of medians from ordered values, and Fieller's interval of a ratio of means; base R only.
# Rscript tests/reference/medians.R
set.seed(1)
x <- round(c(qexp(ppoints(47), 1 / 20), 55, 55, 55), 6)
y <- round(c(qlnorm(ppoints(120), 3, 0.5), rep(18, 10)), 6)
ends <- function(v, alpha) { n <- length(v); k <- qbinom(alpha / 2, n, 0.5); sort(v)[c(k, n - k + 1)] }
for (alpha in c(0.05, 0.001)) {
  a <- ends(x, alpha); b <- ends(y, alpha); d <- median(x) - median(y)
  cat(format(c(alpha, a, b, d, d - sqrt((median(x) - a[1])^2 + (b[2] - median(y))^2),
               d + sqrt((a[2] - median(x))^2 + (median(y) - b[1])^2)), digits = 12), "\n")
}
# symmetric numbers: Welch's t of x - r y, solved for r
u <- 50 + 5 * qnorm(ppoints(400)); w <- 60 + 9 * qnorm(ppoints(300))
p <- function(r) { s2 <- c(var(u) / length(u), r^2 * var(w) / length(w)); t <- (mean(u) - r * mean(w)) / sqrt(sum(s2))
  df <- sum(s2)^2 / (s2[1]^2 / (length(u) - 1) + s2[2]^2 / (length(w) - 1)); 2 * pt(-abs(t), df) }
r <- mean(u) / mean(w)
cat(format(c(uniroot(function(q) p(q) - 0.05, c(r / 2, r), tol = 1e-13)$root,
             uniroot(function(q) p(q) - 0.05, c(r, 2 * r), tol = 1e-13)$root), digits = 12), "\n")
