"""Who may look, and who may act."""

LOOK = "pipeline.view_run"
OPERATE = "pipeline.operate_pipeline"
