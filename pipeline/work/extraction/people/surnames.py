"""Who a surname is: the people of one meeting."""

from pipeline.work.extraction.people.title_words import SUFFIXES


class Roll:
    """The people of a meeting, so that `Okafor` later on is the `Peter Okafor` of the roll call."""

    def __init__(self, names: list[str]) -> None:
        self.names = [(name, _words(name)) for name in names]
        self._found: dict[str, str | None] = {}
        self._surnames = {words[-1] for _, words in self.names if words}

    def __bool__(self) -> bool:
        """Fewer than three are not who was there: somebody was only told to be late or away."""
        return len(self.names) > 2

    def knows(self, name: str) -> bool:
        return self._find(name) is not None

    def has_surname(self, word: str) -> bool:
        return _words(word)[-1] in self._surnames

    def full(self, name: str) -> str:
        return self._find(name) or name

    def _find(self, name: str) -> str | None:
        if name not in self._found:
            self._found[name] = self._search(_words(name))
        return self._found[name]

    def _search(self, wanted: list[str]) -> str | None:
        exact = [known for known, words in self.names if words == wanted]
        if exact:
            return exact[0]
        fitting = [known for known, words in self.names if _fits(words, wanted)]
        if len(fitting) > 1 and len(wanted) > 1:
            fitting = [known for known in fitting if " " in known]
        # In a small town they are on first-name terms.
        fitting = fitting or [known for known, words in self.names if words[:-1] and [words[0]] == wanted]
        return fitting[0] if len(fitting) == 1 else None


def _words(name: str) -> list[str]:
    return [word.strip(".\"'()") for word in name.lower().replace("’", "'").split()]


def _fits(known: list[str], wanted: list[str]) -> bool:
    """The same surname and nothing before it that contradicts: `J. Smith` fits `John Smith`."""
    if not known or not wanted:
        return False
    if wanted[-1] in SUFFIXES:
        wanted = wanted[:-1]
    if known[-1] in SUFFIXES:
        known = known[:-1]
    if len(wanted) > 1 and len(wanted[-1]) == 1 and known[-1] == wanted[0]:  # Hale (T.)
        return known[0][:1] == wanted[-1]
    if not wanted or not known or known[-1] != wanted[-1]:
        return False
    if len(wanted) == 1 or len(known) == 1:
        return True
    return known[-len(wanted) :] == wanted or known[0][:1] == wanted[0][:1]
