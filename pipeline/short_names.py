"""`clerk status` for `manage.py pipeline_status`: the commands that people type most, in short."""

# In the order in which a new operator meets them.
SHORT = {
    "add": "add_site",
    "run": "run_pipeline",
    "status": "pipeline_status",
    "retry": "retry_failed",
    "pause": "pause_site",
    "resume": "resume_site",
    "cancel": "cancel_run",
    "unstick": "unstick_site",
    "skip": "skip_document",
    "import": "import_sites",
    "export": "export_sites",
    "rollback": "rollback_deploy",
}


def in_full(arguments: list[str]) -> list[str]:
    """The same command line with the command's full name."""
    program, *rest = arguments
    at = 1 if rest[:1] == ["help"] else 0
    if len(rest) > at and rest[at] in SHORT:
        rest[at] = SHORT[rest[at]]
    return [program, *rest]
