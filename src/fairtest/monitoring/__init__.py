"""Continuous monitoring: a stream of records that may be looked at at any time.

**For whoever has frames.** :class:`~fairtest.monitoring.watch.Watch` is all there is to call::

    watch = ft.Watch("sex", "hired", history=last_month, person="applicant", time="arrived")
    print(watch.outlook(gap=0.10, share=0.05))     # how soon such a gap would be noticed
    for frame in stream:
        for event in watch.observe(frame):         # new, worse, better, gone; each prints as a sentence
            print(event)
    stored = json.dumps(watch.state())             # plain data; Watch.restore(json.loads(stored)) goes on

**The promise.** Over the whole life of a monitor the chance of even one false *new* is at most 5 %, however often
anyone looks, whatever is looked at first, whenever it is stopped. Other claims have promises of their own
(:mod:`.claims`).

**How it works**, one idea a file, lowest first:

- :mod:`.evalues`: what a bet pays in one block; 1 on average where there is no bias. By tables, scores, permutations.
- :mod:`.stakes`: bets held in logs; closing a block is a pure function of an account and a block, and does nothing the
  second time; a journal can be replayed.
- :mod:`.capital`: how much is staked on each day, and on which hypotheses. :mod:`.slots`: how long blocks are.
- :mod:`.pairs`: a protected attribute and an output, and which bets fit them. :mod:`.claims`: worse, better, gone.
  :mod:`.intervals`: gaps over time whose intervals hold on all days. :mod:`.plan`: delays.
- :mod:`.schema`, :mod:`.candidates`, :mod:`.learning`: what is fixed before the first bet. :mod:`.family`: which
  contexts are followed. :mod:`.search`: FairTest's own search, on records that have been bet on already.
- :mod:`.book` and :mod:`.closing`: all hypotheses of a pair at once, in arrays. :mod:`.life`: records come, blocks
  close, days begin; it knows no frames. :mod:`.echoes`: which of many overlapping alarms are said.
- :mod:`.intake` reads frames, :mod:`.people` knows who came before, :mod:`.state` stores, :mod:`.standing`,
  :mod:`.outlook`, :mod:`.events` and :mod:`.words` are what is shown, :mod:`.watch` is what users call.

**What must stay true** when this is changed: what is followed, with which share, in which slots, is settled before the
records that are bet on; the law of a block given its margins is exact; a record is bet on once, and a person once.
"""
