# Reference values for the closed-form tests and intervals, in base R and by other routes than the library takes:
# rates by numerical maximisation of the likelihood, moments by enumeration, influence functions pair by pair.
# Run with: Rscript closed_form.R

show <- function(name, ...) cat(name, formatC(c(...), digits = 12, format = "g"), "\n")
pearson3 <- function(z, g) {
  k <- 4 / g^2
  p <- if (g > 0) pgamma(k + 2 * z / g, k, lower.tail = FALSE) else pgamma(max(0, k + 2 * z / g), k)
  max(pnorm(-z), p)
}

# Ratio of two rates: skewness-corrected score, inverted on the log scale.
ratio_tail <- function(phi, x1, n1, x2, n2, upper) {
  loglik <- function(r2) {
    term <- function(x, n, r) (if (x > 0) x * log(r) else 0) + (if (n > x) (n - x) * log1p(-r) else 0)
    term(x1, n1, phi * r2) + term(x2, n2, r2)
  }
  r2 <- optimize(loglik, c(1e-12, min(1, 1 / phi) - 1e-12), maximum = TRUE, tol = 1e-14)$maximum
  r1 <- phi * r2
  N <- n1 + n2
  V <- (r1 * (1 - r1) / n1 + phi^2 * r2 * (1 - r2) / n2) * N / (N - 1)
  M <- (r1 * (1 - r1) * (1 - 2 * r1) / n1^2 - phi^3 * r2 * (1 - r2) * (1 - 2 * r2) / n2^2) * N^2 / (N - 1) / (N - 2)
  z <- (x1 / n1 - phi * x2 / n2) / sqrt(V)
  if (upper) pearson3(z, M / V^1.5) else pearson3(-z, -M / V^1.5)
}
ratio_interval <- function(x1, n1, x2, n2, alpha) {
  at <- log(x1 * n2 / n1 / x2)
  low <- uniroot(function(l) log(ratio_tail(exp(l), x1, n1, x2, n2, TRUE) * 2 / alpha), c(at - 9, at), tol = 1e-13)$root
  high <- uniroot(function(l) log(ratio_tail(exp(l), x1, n1, x2, n2, FALSE) * 2 / alpha), c(at, at + 9), tol = 1e-13)$root
  exp(c(low, high))
}
for (alpha in c(.05, .0005)) {
  show(paste("ratio 7/100 21/200", alpha), ratio_interval(7, 100, 21, 200, alpha))
  show(paste("ratio 300/1000 250/1000", alpha), ratio_interval(300, 1000, 250, 1000, alpha))
  show(paste("ratio 2/10 30/990", alpha), ratio_interval(2, 10, 30, 990, alpha))
}

# Conditional NMI of the strata 12/20, 5/20, 30/40 against 9/30, 2/30, 22/40.
entropy <- function(p) -sum(ifelse(p > 0, p * log(p), 0))
g_of <- function(t) { e <- outer(rowSums(t), colSums(t)) / sum(t); 2 * sum(ifelse(t > 0, t * log(t / e), 0)) }
strata <- list(c(12, 20, 9, 30), c(5, 20, 2, 30), c(30, 40, 22, 40))
Q <- 0; m <- 0; v <- 0; third <- 0; used <- 0; spread <- 0
for (s in strata) {
  t <- matrix(c(s[1], s[2] - s[1], s[3], s[4] - s[3]), 2)          # outputs in rows, groups in columns
  n <- sum(t); row <- rowSums(t); col <- colSums(t)
  a <- max(0, row[1] + col[1] - n):min(row[1], col[1])
  w <- dhyper(a, row[1], row[2], col[1])
  G <- sapply(a, function(x) g_of(matrix(c(x, col[1] - x, row[1] - x, n - col[1] - row[1] + x), 2)))
  mean0 <- sum(w * G); var0 <- sum(w * (G - mean0)^2); third0 <- sum(w * (G - mean0)^3)
  show("null moments of G", mean0, var0, third0)
  H <- min(entropy(row / n), entropy(col / n))
  Q <- Q + g_of(t) / H; m <- m + mean0 / H; v <- v + var0 / H^2; third <- third + third0 / H^3; used <- used + n
  p <- t / n
  lift <- log(p / outer(row / n, col / n))
  info <- if (entropy(row / n) < entropy(col / n)) matrix(-log(row / n), 2, 2) else matrix(-log(col / n), 2, 2, byrow = TRUE)
  nmi <- sum(p * lift) / H
  spread <- spread + n * sum(p * (lift - nmi * info)^2) / H^2
}
g <- v / 2 / m; nu <- 2 * m^2 / v
skewness <- max(third / v^1.5, sqrt(8 / nu))
shape <- 4 / skewness^2
show("conditional NMI, p", Q / 2 / used, pgamma(shape + 2 * (Q - m) / sqrt(v) / skewness, shape, lower.tail = FALSE))
kappa <- max(1, spread / (g * Q))
for (alpha in c(.05, .0005)) {
  h <- qnorm(1 - alpha / 2) * sqrt(kappa)
  low <- if (pchisq(Q / g, nu, lower.tail = FALSE) >= pnorm(-h)) 0 else
    uniroot(function(l) pchisq(Q / g, nu, l, lower.tail = FALSE) - pnorm(-h), c(0, Q / g), tol = 1e-12)$root
  high <- uniroot(function(l) pchisq(max(Q / g, nu), nu, l) - pnorm(-h), c(0, 400), tol = 1e-12)$root
  show(paste("conditional NMI interval", alpha), c(low, high) * g / 2 / used)
}

# Conditional correlation: x = 1…10 and its y, first six people in one stratum, the others in a second.
x <- 1:10; y <- c(2.1, 1.9, 3.7, 3.2, 5.5, 4.0, 9.9, 6.1, 14.2, 8.8); e <- c(1, 1, 1, 1, 1, 1, 2, 2, 2, 2)
cx <- residuals(lm(x ~ factor(e))); cy <- residuals(lm(y ~ factor(e)))
u <- cx / sqrt(mean(cx^2)); w <- cy / sqrt(mean(cy^2)); r <- mean(u * w); n <- 10; K <- 2
V <- mean((u * w - r / 2 * (u^2 + w^2))^2)
se <- sqrt(max(1, V / (1 - r^2)^2, mean(u^2 * w^2)) / (n - K - 2))
show("conditional correlation, p", r, 2 * pt(-abs(atanh(r)) / se, n - K - 1))
for (alpha in c(.05, .0005))
  show(paste("conditional correlation interval", alpha), tanh(atanh(r) + c(-1, 1) * qt(1 - alpha / 2, n - K - 1) * se))

# Spearman with ties, pair by pair.
x <- c(1, 1, 2, 2, 2, 3, 3, 4, 5, 5, 6, 7); y <- c(2, 1, 1, 3, 2, 5, 2, 4, 4, 6, 3, 6); n <- length(x)
h <- function(a) outer(a, a, function(p, q) (p < q) + (p == q) / 2)
f <- (rank(x) - .5) / n - .5; q <- (rank(y) - .5) / n - .5
C <- mean(f * q); SF <- mean(f^2); SG <- mean(q^2); rho <- cor(x, y, method = "spearman")
ic <- f * q + drop(h(x) %*% q) / n + drop(h(y) %*% f) / n - 3 * C
is <- function(f, x, S) f^2 + 2 * drop(h(x) %*% f) / n - 3 * S
V <- mean((ic / sqrt(SF * SG) - rho / 2 * (is(f, x, SF) / SF + is(q, y, SG) / SG))^2)
se <- sqrt(max(V / (1 - rho^2)^2, 1 + rho^2 / 2) / (n - 3))
show("spearman, p, V", rho, 2 * pt(-abs(atanh(rho)) / se, n - 2), V)
for (alpha in c(.05, .0005))
  show(paste("spearman interval", alpha), tanh(atanh(rho) + c(-1, 1) * qt(1 - alpha / 2, n - 2) * se))

# Spearman where one group is rare: the degrees of freedom of Satterthwaite at each supposed rho, person by person.
x <- c(rep(0, 21), 1, 1, 1); y <- c(3, 5, 2, 4, 4, 6, 1, 3, 5, 4, 2, 3, 6, 5, 4, 3, 2, 4, 5, 3, 4, 9, 6, 1); n <- length(x)
f <- (rank(x) - .5) / n - .5; q <- (rank(y) - .5) / n - .5
C <- mean(f * q); SF <- mean(f^2); SG <- mean(q^2); rho <- cor(x, y, method = "spearman")
ic <- (f * q + drop(h(x) %*% q) / n + drop(h(y) %*% f) / n - 3 * C) / sqrt(SF * SG)
half <- (is(f, x, SF) / SF + is(q, y, SG) / SG) / 2
V <- mean((ic - rho * half)^2)
se <- sqrt(max(V / (1 - rho^2)^2, 1 + rho^2 / 2) / (n - 3))
df <- function(rho0) {
  w <- ic - rho0 * half + (rho - rho0)
  min(n - 2, max(1, 2 * n / (mean(w^4) / mean(w^2)^2 - 1)))
}
show("spearman of a rare group, p, df", rho, 2 * pt(-abs(atanh(rho)) / se, df(0)), df(0), df(rho))
for (alpha in c(.05, .0005)) {
  gap <- function(z) abs(z - atanh(rho)) / se - qt(1 - alpha / 2, df(tanh(z)))
  low <- uniroot(gap, c(-18, atanh(rho)), tol = 1e-13)$root; high <- uniroot(gap, c(atanh(rho), 18), tol = 1e-13)$root
  show(paste("spearman of a rare group, interval", alpha), tanh(c(low, high)))
}

# Correlation with a column of two values: the more cautious of the usual t and of Welch's.
y <- c(3.1, 5.2, 2.4, 4.4, 4.0, 6.1, 1.9, 3.3, 5.5, 4.1, 2.2, 3.0, 6.6, 5.0, 4.7, 3.2, 2.9, 4.6, 5.1, 3.8, 4.2, 12.5, 7.0, 3.9)
u <- x - mean(x); w <- y - mean(y); u <- u / sqrt(mean(u^2)); w <- w / sqrt(mean(w^2)); r <- mean(u * w)
V <- mean((u * w - r / 2 * (u^2 + w^2))^2) / (1 - r^2)^2
se <- sqrt(max(1, V, mean(u^2 * w^2)) / (n - 3)); welch <- t.test(y[x == 1], y[x == 0])$parameter; own <- sqrt(V / (n - 3))
show("correlation of two groups, p, df", r, max(2 * pt(-abs(atanh(r)) / se, n - 2), 2 * pt(-abs(atanh(r)) / own, welch)), welch)
for (alpha in c(.05, .0005))
  show(paste("correlation of two groups, interval", alpha),
       tanh(atanh(r) + c(-1, 1) * max(qt(1 - alpha / 2, n - 2) * se, qt(1 - alpha / 2, welch) * own)))
