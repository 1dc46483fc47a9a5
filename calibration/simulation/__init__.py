"""The service in a world of one seed: a clock of its own, actors that take turns, a store that fails and repeats.

Run it with ``make simulate``, or ``python -m calibration.simulation --seeds 2000``; ``--seed 17`` plays one again, step
by step. Clients, tickers, workers, a sealer, an eraser and a postman are the real functions of the service on a real
database. Each is stopped at the points that :mod:`fairtest.service.pausing` names, and a scheduler that draws from the
seed decides who goes on, whose transaction fails, whose answer is lost, who dies, and what time it is. In the end
everything is let finish, and a small model of what must be true is compared with the store.
"""
