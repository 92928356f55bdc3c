from django.db import migrations

ADD = """
ALTER TABLE document_pipeline_state ADD COLUMN next_version integer NOT NULL DEFAULT 7;
CREATE INDEX idx_next_version ON document_pipeline_state (next_version);
"""
DROP = "ALTER TABLE document_pipeline_state DROP COLUMN next_version"


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0001_ledger")]
    operations = [migrations.RunSQL(ADD, DROP)]
