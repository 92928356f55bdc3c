"""How a person wants a document read: every page recognised, drawn more finely, in other languages."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0010_retirements")]
    operations = [
        migrations.AddField(
            model_name="correction",
            name="by_ocr",
            field=models.BooleanField(
                db_comment="the file's own text is no good: every page is recognised",
                db_default=False,
                default=False,
            ),
        ),
        migrations.AddField(
            model_name="correction",
            name="dpi",
            field=models.PositiveIntegerField(
                db_comment="drawn so finely for OCR; 0: as usual", db_default=0, default=0
            ),
        ),
        migrations.AddField(
            model_name="correction",
            name="languages",
            field=models.CharField(blank=True, db_default="", default="", max_length=50),
        ),
    ]
