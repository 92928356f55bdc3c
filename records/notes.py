"""Notes of readers: something on a page is not right."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils import timezone

from records.files import original_of
from records.models import Note
from records.published import PublishedDocument


class NoteForm(forms.ModelForm):
    # A field that people do not see and machines fill in.
    website = forms.CharField(required=False)

    class Meta:
        model = Note
        fields = ("about", "text", "email")

    def is_from_a_machine(self) -> bool:
        return bool(self.data.get("website"))


def leave(document: PublishedDocument, page: int, told: dict[str, Any]) -> Note:
    original = original_of(document)
    return Note.objects.create(
        site_id=document.site,
        document=original.row if original else None,
        published_id=document.id,
        page=page,
        about=told["about"],
        text=told["text"],
        email=told["email"],
    )


def settle(chosen: QuerySet[Note], by: str, answer: str) -> list[int]:
    """Close these notes with what was done about them; those that were open."""
    settled = list(chosen.filter(settled_at=None).values_list("pk", flat=True))
    Note.objects.filter(pk__in=settled).update(settled_at=timezone.now(), settled_by=by[:150], answer=answer)
    return settled
