"""The old system's schema as it stood; where the old system is there already, its tables are taken over."""

from django.db import migrations, models

from sites.migrations.adoption.operations import AdoptModel


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        AdoptModel(
            name="Site",
            fields=[
                ("subdomain", models.CharField(primary_key=True, serialize=False)),
                ("name", models.CharField(blank=True, null=True)),
                ("state", models.CharField(blank=True, help_text="US state, two letters", null=True)),
                ("kind", models.CharField(blank=True, help_text="city, county, school board …", null=True)),
                ("scraper", models.CharField(blank=True, null=True)),
                (
                    "pages",
                    models.IntegerField(blank=True, help_text="pages in the compiled database", null=True),
                ),
                ("start_year", models.IntegerField(blank=True, null=True)),
                ("extra", models.TextField(blank=True, null=True)),
                ("country", models.CharField(blank=True, null=True)),
                ("lat", models.CharField(blank=True, null=True)),
                ("lng", models.CharField(blank=True, null=True)),
                ("status", models.CharField(null=True, blank=True)),
                (
                    "extraction_status",
                    models.CharField(null=True, blank=True, default="pending", db_default="pending"),
                ),
                ("last_updated", models.CharField(null=True, blank=True)),
                ("last_deployed", models.CharField(null=True, blank=True)),
                ("last_extracted", models.CharField(null=True, blank=True)),
            ],
            options={"db_table": "sites", "ordering": ["subdomain"]},
        ),
        AdoptModel(
            name="SiteProgress",
            fields=[
                ("subdomain", models.CharField(primary_key=True, serialize=False)),
                ("current_stage", models.CharField(null=True)),
                ("stage_total", models.IntegerField(default=0, db_default=0)),
                ("stage_completed", models.IntegerField(default=0, db_default=0)),
                ("started_at", models.DateTimeField(null=True)),
                ("updated_at", models.DateTimeField(null=True)),
            ],
            options={"db_table": "site_progress"},
        ),
    ]
