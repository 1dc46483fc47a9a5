# Reference values for what closed_form.R does not cover, in base R and by other routes than the library takes:
# sums of squares by lm, permutations by going through all of them, closed testing by going through all sets,
# the bootstrap by the package boot.
# Run with: Rscript test_reference_more.R; the numbers stand in test_reference_more.py.

show <- function(name, ...) cat(name, formatC(c(...), digits = 12, format = "g"), "\n")
noncentral <- function(x, df, width) {
  low <- if (pchisq(x, df, lower.tail = FALSE) >= pnorm(-width)) 0 else
    uniroot(function(l) pchisq(x, df, l, lower.tail = FALSE) - pnorm(-width), c(0, x), tol = 1e-12)$root
  high <- uniroot(function(l) pchisq(max(x, df), df, l) - pnorm(-width), c(0, 2000), tol = 1e-12)$root
  c(low, high)
}

# ETA, alone and within strata: an output that grows from group to group, two strata of 24 people each.
y <- c(1.2, 3.4, 2.2, 5.9, 4.1, 2.8, 3.9, 1.7,  3.5, 6.0, 2.6, 7.2, 4.1, 4.8, 6.3, 3.0,  4.2, 11.6, 5.7, 6.5, 9.8, 2.6, 7.9, 5.3,
       2.1, 4.4, 1.2, 3.9, 5.1, 4.8, 0.9, 2.7,  4.0, 3.5, 7.1, 2.7, 9.6, 6.3, 5.8, 4.5,  3.7, 8.1, 5.2, 4.0, 11.3, 2.1, 6.4, 7.8)
g <- factor(rep(rep(1:3, each = 8), 2)); e <- factor(rep(1:2, each = 24))
eta <- function(y, g, e) {
  within <- anova(lm(y ~ if (nlevels(droplevels(e)) > 1) e:g else g))["Residuals", "Sum Sq"]
  about <- if (nlevels(droplevels(e)) > 1) residuals(lm(y ~ e)) else y - mean(y)
  total <- sum(about^2); between <- total - within; eta2 <- between / total
  cell <- interaction(e, g, drop = TRUE)
  v <- tapply(y, cell, var); n <- tapply(y, cell, length); stratum <- sub("\\..*", "", names(n))
  f <- n / tapply(n, stratum, sum)[stratum]
  D <- sum((1 - f) * v)
  common <- sum(tapply(f * v, stratum, sum)^2)
  nu1 <- D^2 / (sum(v^2) + common - 2 * sum(f * v^2)); nu2 <- D^2 / sum(((1 - f) * v)^2 / (n - 1))
  p <- pf(between / D, nu1, nu2, lower.tail = FALSE)
  # The influence of each person on η², one by one: b the effect of the cell, u the deviation from its mean.
  b <- ave(about, cell); u <- about - b
  influence <- (b^2 * (1 - eta2) + 2 * b * (1 - eta2) * u - eta2 * u^2)
  unit <- D / nu1
  kappa <- max(1, sum(influence^2) / (4 * unit * between))
  show("eta, p", eta2, p)
  for (alpha in c(.05, .0005)) {
    bounds <- noncentral(between / unit, nu1, qt(1 - alpha / 2, nu2) * sqrt(kappa)) * unit / total
    show(paste("eta interval", alpha), bounds[1], min(bounds[2], 1))
  }
}
cat("one stratum\n"); eta(y[1:24], g[1:24], e[1:24])
cat("two strata\n"); eta(y, g, e)

# RANK within strata: ranks by stratum as shares of it, then a correlation of residuals with two strata.
x <- c(1, 1, 2, 2, 3, 4, 5, 5, 6, 7,  1, 2, 2, 3, 3, 4, 4, 6, 7, 7); z <- c(2, 1, 1, 3, 2, 5, 4, 4, 6, 3,  1, 1, 3, 2, 4, 2, 5, 4, 7, 6)
s <- rep(1:2, each = 10); n <- 20; K <- 2
share <- function(v) ave(v, s, FUN = function(w) (rank(w) - .5) / length(w) - .5)
a <- share(x); b <- share(z); a <- a / sqrt(mean(a^2)); b <- b / sqrt(mean(b^2)); r <- mean(a * b)
V <- mean((a * b - r / 2 * (a^2 + b^2))^2)
se <- sqrt(max(1, V / (1 - r^2)^2, mean(a^2 * b^2)) / (n - K - 2))
show("conditional rank, p", r, 2 * pt(-abs(atanh(r)) / se, n - K - 1))
for (alpha in c(.05, .0005))
  show(paste("conditional rank interval", alpha), tanh(atanh(r) + c(-1, 1) * qt(1 - alpha / 2, n - K - 1) * se))

# Corrections by p.adjust; the example of Benjamini and Hochberg (1995).
p <- c(.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719, .6528, .7590, 1)
for (method in c("bonferroni", "holm", "BH", "BY")) show(method, p.adjust(p, method))

# Weighted corrections by closed testing: all 2^5 - 1 intersections. Evidence e, one-sided p, training share .3.
p <- c(.001, .02, .003, .4, .04); ev <- c(1.5, 3, .2, 2.2, -.4); f <- .3
sets <- lapply(1:31, function(k) which(bitwAnd(k, 2^(0:4)) > 0))
closed <- function(level) sapply(1:5, function(i) max(sapply(Filter(function(S) i %in% S, sets), level)))
weight <- rank(-ev)^-1.5
show("weighted holm", closed(function(S) min(1, min(p[S] / (weight[S] / sum(weight[S]))))))
pooled <- sqrt(f) * ev + sqrt(1 - f) * qnorm(p, lower.tail = FALSE)
show("pooled", closed(function(S) min(1, sum(pnorm((sqrt(f) * ev[S] - max(pooled[S])) / sqrt(1 - f))))))

# All permutations of 7 people.
permutations <- function(v) if (length(v) < 2) list(v) else
  do.call(c, lapply(seq_along(v), function(i) lapply(permutations(v[-i]), function(w) c(v[i], w))))
all7 <- permutations(1:7)
x <- c(1, 2, 3, 4, 5, 6, 9) - mean(c(1, 2, 3, 4, 5, 6, 9)); w <- c(.3, 1.1, .2, 1.9, 1.4, 2.2, 5.0); w <- w - mean(w)
T <- function(o) abs(sum(x * w[o])) / sqrt(sum(x^2 * w[o]^2))
show("studentised permutation", mean(sapply(all7, T) >= T(1:7) * (1 - 1e-9)))

# Permutation of numbers between three groups within two strata of 5 and 4 people (120 × 24 orders).
values <- c(1.2, 3.4, 5.9, 8.5, 2.0, 7.7, 4.2, 9.1, 1.5); group <- c(1, 1, 2, 3, 2, 1, 2, 3, 1); stratum <- c(1, 1, 1, 1, 1, 2, 2, 2, 2)
between <- function(v) { b <- v - ave(v, stratum); sum(ave(b, interaction(stratum, group))^2) }
orders <- function(S) permutations(which(stratum == S))
shuffled <- unlist(lapply(orders(1), function(i) sapply(orders(2), function(j) between(values[c(i, j)]))))
show("permutation of eta", mean(shuffled >= between(values) * (1 - 1e-9)))

# The conditional ratio: all tables with the margins of two strata (both hypergeometric).
ratio <- function(x1, n1, x2, n2) (x1 / n1) / (x2 / n2) - 1
strata <- list(c(9, 20, 6, 30), c(4, 12, 5, 28))                                  # x1, n1, x2, n2
parts <- lapply(strata, function(t) { x1 <- 0:min(t[2], t[1] + t[3]); x1 <- x1[t[1] + t[3] - x1 <= t[4]]
  list(effect = ratio(x1, t[2], t[1] + t[3] - x1, t[4]), weight = dhyper(x1, t[2], t[4], t[1] + t[3])) })
size <- sapply(strata, function(t) t[2] + t[4])
average <- function(a, b) { ok <- c(is.finite(a), is.finite(b)); sum((c(a, b) * size)[ok]) / sum(size[ok]) }
observed <- average(do.call(ratio, as.list(strata[[1]])), do.call(ratio, as.list(strata[[2]])))
tail <- 0
for (i in seq_along(parts[[1]]$effect)) for (j in seq_along(parts[[2]]$effect)) {
  drawn <- average(parts[[1]]$effect[i], parts[[2]]$effect[j])
  if (is.nan(drawn) || abs(log1p(max(drawn, -1))) >= abs(log1p(observed)) * (1 - 1e-9))
    tail <- tail + parts[[1]]$weight[i] * parts[[2]]$weight[j]
}
show("conditional ratio, permutation p", observed, tail)

# G of a 3 × 3 table: its permutation mean, variance and p over all distinct orders of 9 outputs.
outputs <- c(1, 1, 1, 2, 2, 2, 2, 3, 3); groups <- c(1, 1, 2, 1, 2, 2, 3, 3, 3)
g_of <- function(o) { t <- table(o, groups); m <- outer(rowSums(t), colSums(t)) / sum(t); 2 * sum(ifelse(t > 0, t * log(t / m), 0)) }
tables <- unique(expand.grid(a = 0:3, b = 0:3, c = 0:4, d = 0:4))               # cells (1,1) (1,2) (2,1) (2,2)
row <- c(3, 4, 2); col <- table(groups); G <- P <- NULL
for (k in seq_len(nrow(tables))) {
  t <- with(tables[k, ], rbind(c(a, b, row[1] - a - b), c(c, d, row[2] - c - d)))
  t <- rbind(t, as.numeric(col) - colSums(t))
  if (all(t >= 0)) { m <- outer(row, as.numeric(col)) / 9
    G <- c(G, 2 * sum(ifelse(t > 0, t * log(t / m), 0)))
    P <- c(P, exp(sum(lfactorial(row)) + sum(lfactorial(col)) - lfactorial(9) - sum(lfactorial(t)))) }
}
show("moments of G, p", sum(P), sum(P * G), sum(P * (G - sum(P * G))^2), sum(P[G >= g_of(outputs) * (1 - 1e-9)]))

# BCa by the package boot: the difference of two rates, 60 of 100 and 40 of 120, and the mean of a skewed column.
library(boot); set.seed(1)
d <- data.frame(o = rep(c(1, 0, 1, 0), c(60, 40, 40, 80)), s = rep(1:2, c(100, 120)))
difference <- function(d, i) with(d[i, ], mean(o[s == 1]) - mean(o[s == 2]))
show("boot, difference", boot.ci(boot(d, difference, 40000), conf = .95, type = "bca", L = empinf(data = d, statistic = difference, type = "jack", stype = "i"))$bca[4:5])
column <- exp(qnorm((1:60 - .5) / 60))
mean_of <- function(v, i) mean(v[i])
show("boot, mean", boot.ci(boot(column, mean_of, 40000), conf = .95, type = "bca", L = empinf(data = column, statistic = mean_of, type = "jack", stype = "i"))$bca[4:5])

# Exact intervals of a probability, as the sequential stopping and the calibration use them.
show("binom.test 5/10 and 9350/10000", binom.test(5, 10)$conf.int, binom.test(9350, 10000, conf.level = .999)$conf.int)
