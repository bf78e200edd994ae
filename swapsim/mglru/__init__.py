# SPDX-License-Identifier: GPL-2.0-or-later
"""What reclaim decides with generations (MGLRU) on 6.12 and 7.3, and recordings of real kernels.

- ``traces.import_text`` makes tables from the text of a kernel's probes, by ``JOINED_EVENTS``,
- ``verify_generations`` compares each type, tier, aging and scan size with those of the rules,
- ``replay`` chooses for the same states by other rules, a user's own among them, and shows which
  choices flip, when and by which term,
- ``timeline`` and ``charts.why`` show why pages were swapped out.
"""

from swapsim.mglru import tables as tables
from swapsim.mglru.joining import JOINED_EVENTS as JOINED_EVENTS
from swapsim.mglru.recording import GenerationRows as GenerationRows
from swapsim.mglru.recording import generation_rows as generation_rows
from swapsim.mglru.recording import shipped as shipped
from swapsim.mglru.replay import GenerationReplay as GenerationReplay
from swapsim.mglru.replay import chosen as chosen
from swapsim.mglru.replay import replay as replay
from swapsim.mglru.replay import timeline as timeline
from swapsim.mglru.verify import verified_generations as verified_generations
from swapsim.mglru.verify import verify_generations as verify_generations
