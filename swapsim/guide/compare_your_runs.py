# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare your runs: your measurements next to what was published.

You ran vm-scalability, pmbench, usemem or parallelio on a kernel without a patch and on one with
it. A table of your runs has a row for each run and metric:

>>> rows = '''kernel,test,metric,value,unit,run
... base,vm-scalability,vmstat.swap.so,1207402,KiB/s,1
... base,vm-scalability,vmstat.swap.so,1198310,KiB/s,2
... patched,vm-scalability,vmstat.swap.so,1476578,KiB/s,1
... patched,vm-scalability,vmstat.swap.so,1459021,KiB/s,2
... patched,vm-scalability,meminfo.Active,1021,kB,1
... '''
>>> from pathlib import Path
>>> characters = Path("runs.csv").write_text(rows)

A metric has the name that its tool gives it, that a mail gives it, or that of a claim
(``A-swap-out``); ``swapsim claims --metrics`` lists them.

```console
$ swapsim compare runs.csv
changes from base to patched, in percent:
| claim      | published | tolerance | yours | your_low | your_high | your_verdict | simulated |
|            |         % |    points |     % |        % |         % |              |         % |
|------------|-----------|-----------|-------|----------|-----------|--------------|-----------|
| A-swap-out |      22.3 |      11.3 |    22 |     17.6 |      26.5 | open         |      21.8 |
| claim      | setup                                     |
|------------|-------------------------------------------|
| A-swap-out | test=swap-w-seq, processes=8, device=pmem |
with --only compared and --format, or in a file (-o), also: your_metric, spread, base_runs,
  patched_runs, low, high, simulated_verdict, measured, measured_verdict, patch, metric
metrics that fit no claim:
| test           | metric         | unit | runs | why           |
|----------------|----------------|------|------|---------------|
| vm-scalability | meminfo.Active | kB   |    1 | fits no claim |
open verdicts: 1, since fewer than 5 runs of a kernel
Setups are not compared: a verdict holds only if yours is the claim's.
```

``your_low`` to ``your_high`` is the 95 % interval of your change. *Reproduced* says that all of it
lies within the stored tolerance of the published change, *missed* that all of it lies outside or
has the other sign; else your change is *open*. It is also open with fewer than five runs of a
kernel, and if no change would be within the tolerance, too. A printed change below 1 % says that
nothing changes, so a change of zero reproduces it. The mail's error bar is not in *yours*. A claim
that repeats another one's figure, as a mail's text does its table's, is left out. In Python:

>>> from swapsim import frames
>>> from swapsim.site import overview
>>> compared = overview.compare("runs.csv")
>>> frames.show(compared.columns.select("claim", "published", "yours", "your_verdict"))
claim       published  yours  your_verdict
                    %      %
A-swap-out       22.3     22  open
>>> compared.unmatched.select("metric", "why").rows()
[('meminfo.Active', 'fits no claim')]

Other names of your two kernels are given as ``base=`` and ``patched=``, or ``--base`` and
``--patched``. Without ``simulated`` (``--without-simulated``) the comparison takes a second less.
The command ends with exit status 1 if no metric fits a claim.

## Which claims are there?

Each figure and each sentence of a mail that can be judged is a row, with what models and real
kernels answer:

```console
$ swapsim claims A-swap-out
claims:
| claim      | published | simulated     | measured                           |
|------------|-----------|---------------|------------------------------------|
| A-swap-out | +22.3 %   | +21.8 %: open | not measured: time under emulation |
Of 1 claim the models decide 0; undecided: 1 open. Real kernels decide 0; undecided: 1 with a
  reason.
```

All rows, before those that repeat another one are left out:

>>> from swapsim import claims
>>> published = claims.published_claims()
>>> published.height, published["mail"].n_unique()
(278, 7)

Some rows repeat the figure of another one, as a mail's text does its table's. They count once, so
that the pages count fewer claims:

>>> repeats = claims.kinds()["repeats"].count()
>>> repeats, published.height - repeats
(6, 272)
"""
