# SPDX-License-Identifier: GPL-2.0-or-later
"""What reclaim decides with generations (MGLRU) on 6.12 and 7.3, and recordings of real kernels.

- ``traces.import_text`` makes tables from the text of a kernel's probes, by ``JOINED_EVENTS``,
- ``verify_generations`` compares each type, tier, aging and scan size with those of the rules,
- ``replay`` chooses for the same states by other rules, a user's own among them, and shows which
  choices flip, when and by which term,
- ``timeline`` and ``charts.why`` show why pages were swapped out.
"""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.generations import charts as charts
    from swapsim.generations import tables as tables
    from swapsim.generations.joining import JOINED_EVENTS as JOINED_EVENTS
    from swapsim.generations.recording import GenerationRows as GenerationRows
    from swapsim.generations.recording import generation_rows as generation_rows
    from swapsim.generations.recording import shipped as shipped
    from swapsim.generations.replay import GenerationReplay as GenerationReplay
    from swapsim.generations.replay import chosen as chosen
    from swapsim.generations.replay import replay as replay
    from swapsim.generations.replay import timeline as timeline
    from swapsim.generations.verify import verified_generations as verified_generations
    from swapsim.generations.verify import verify_generations as verify_generations
else:
    lazy.export(__name__)
