# SPDX-License-Identifier: GPL-2.0-or-later
"""One engine for all that runs a function over many points.

Results are those of a serial run, because all that a task draws comes from its point's seed. A
``Study`` is a result of that kind which is stored in data/simulated.
"""

from swapsim.study import constants as constants
from swapsim.study import ranking as ranking
from swapsim.study import summary as summary
from swapsim.study import tables as tables
from swapsim.study.study import How as How
from swapsim.study.study import Study as Study
from swapsim.study.study import picked as picked
from swapsim.study.study import recap as recap
from swapsim.study.study import run as run
from swapsim.study.study import table as table
