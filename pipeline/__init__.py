"""The pipeline. Each line imports only from the lines above it; `tests/test_layers.py` holds every arrow.

redaction · errors · error_codes · permissions · indexes · sites (another app, which imports nothing)
work(errors) · models(sites) · order(sites) · queue
state(models)
webhooks(models, queue, work.webhook) · stages(work, state, queue)
workload(order, state) · dispatch(order, queue)
flow(workload, dispatch, state, webhooks)
protocol(state, queue, dispatch, flow)
jobs(protocol, stages, flow, webhooks) · reconcile(dispatch, flow, state, queue) · verify(stages, state)
takeover(state, queue) · schedule(flow, reconcile, queue)
reports(reconcile, schedule, queue, stages) · workers(jobs, schedule, reports)
operations(flow, schedule, reconcile, reports, stages) · backup
admin · dashboard · management, and the app records
"""
