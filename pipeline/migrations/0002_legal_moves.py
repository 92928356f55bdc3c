"""The database itself refuses a move of a ledger row that the rules do not allow."""

from django.db import migrations

# A row goes back to pending only in a new run, and not once its document is processed (a unit of the site,
# such as its listing, is done anew by every run), or when a person resets it, which leaves an intervention.
LEGAL = """
    NEW.status = OLD.status
    OR (OLD.status = 'pending' AND NEW.status = 'in_progress')
    OR (OLD.status = 'in_progress' AND NEW.status IN ('processed', 'failed_retryable', 'failed_terminal'))
    OR (OLD.status = 'failed_retryable' AND NEW.status IN ('in_progress', 'failed_terminal'))
    OR (NEW.status = 'pending' AND (
        (COALESCE(NEW.run_id, 0) <> COALESCE(OLD.run_id, 0)
            AND (OLD.status <> 'processed' OR OLD.document_id IS NULL))
        OR (NEW.intervention_id IS NOT NULL AND COALESCE(OLD.intervention_id, 0) <> NEW.intervention_id)
    ))
"""

POSTGRESQL = f"""
CREATE OR REPLACE FUNCTION dps_refuse_illegal_move() RETURNS trigger AS $$
BEGIN
    IF NOT ({LEGAL}) THEN
        RAISE EXCEPTION 'illegal ledger move: % -> % (row %)', OLD.status, NEW.status, OLD.id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$ LANGUAGE plpgsql;
DROP TRIGGER IF EXISTS trg_dps_legal_moves ON document_pipeline_state;
CREATE TRIGGER trg_dps_legal_moves BEFORE UPDATE OF status ON document_pipeline_state
    FOR EACH ROW EXECUTE FUNCTION dps_refuse_illegal_move();
"""

SQLITE = f"""
CREATE TRIGGER IF NOT EXISTS trg_dps_legal_moves BEFORE UPDATE OF status ON document_pipeline_state
FOR EACH ROW WHEN NOT ({LEGAL})
BEGIN
    SELECT RAISE(ABORT, 'illegal ledger move');
END
"""


def create(apps, schema_editor):
    # One string each: SQLite's triggers hold semicolons, so the statement must not be split.
    sql = POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(sql)


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP TRIGGER IF EXISTS trg_dps_legal_moves ON document_pipeline_state")
        schema_editor.execute("DROP FUNCTION IF EXISTS dps_refuse_illegal_move()")
    else:
        schema_editor.execute("DROP TRIGGER IF EXISTS trg_dps_legal_moves")


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0001_ledger")]
    operations = [migrations.RunPython(create, drop)]
