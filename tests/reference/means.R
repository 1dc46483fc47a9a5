# MEAN against R's t.test (Welch): the metric is that test where numbers have no skewness to speak of and groups are
# equally large, and the more cautious of the two elsewhere.
# Run with: Rscript means.R; the numbers stand in test_reference_means.py.

show <- function(name, ...) cat(name, formatC(c(...), digits = 12, format = "g"), "\n")
compare <- function(name, group, reference) {
  show(name, t.test(group, reference)$p.value,
       t.test(group, reference, conf.level = .95)$conf.int, t.test(group, reference, conf.level = .9995)$conf.int)
}

compare("sleep of Student", sleep$extra[sleep$group == 1], sleep$extra[sleep$group == 2])
compare("normal, equal spread", qnorm(ppoints(40)) + .6, qnorm(ppoints(40)))
compare("normal, threefold spread", 3 * qnorm(ppoints(200)) + .5, qnorm(ppoints(200)))
compare("t with 5 degrees", qt(ppoints(500), 5) - .2, qt(ppoints(500), 5))
compare("even", seq(0, 1, length.out = 25), seq(.1, 1.5, length.out = 25))
compare("60 and 240, normal", 2 * qnorm(ppoints(60)) + .7, qnorm(ppoints(240)))
compare("40 and 160, log-normal", exp(qnorm(ppoints(40))) + .8, exp(qnorm(ppoints(160))))
