"""What the benches share: plain baselines and how a report is written."""

from memstrata.bench.baselines import porter as porter
from memstrata.bench.report import table as table
from memstrata.bench.report import write as write
