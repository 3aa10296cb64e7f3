"""The team document: one shared Markdown document, merged entry by entry, never emptied by accident."""

from memstrata.domain.team_document.authorship import Authored, authored
from memstrata.domain.team_document.difference import diff
from memstrata.domain.team_document.grammar import (
    Document,
    Entry,
    Marker,
    Raw,
    Section,
    parse,
    render,
)
from memstrata.domain.team_document.injection import TAGS, Visibility, block
from memstrata.domain.team_document.limits import HARD, SOFT
from memstrata.domain.team_document.merge import Clash
from memstrata.domain.team_document.saving import Oversize, Saved, Status, save, settle
from memstrata.domain.team_document.validate import Find, Reason

__all__ = [
    "HARD",
    "SOFT",
    "TAGS",
    "Authored",
    "Clash",
    "Document",
    "Entry",
    "Find",
    "Marker",
    "Oversize",
    "Raw",
    "Reason",
    "Saved",
    "Section",
    "Status",
    "Visibility",
    "authored",
    "block",
    "diff",
    "parse",
    "render",
    "save",
    "settle",
]
