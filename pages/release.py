"""Release page: released files alone, proved, grouped, filtered and plotted; no private table is read."""

from ui.reader import asking, files
from ui.shared.state import workspace
from ui.shared.theme import heading

space = workspace()  # keeps the released files over a reload; nothing else of it is read here
heading("reader")
found = files.taken(space)
if found is not None:
    files.promise(found)
    asking.panel(found)
