"""The page and the pictures of one run, from its folder or its result.

Pages about several runs are in `islands.studies.pages`, which uses the same history, pictures and
HTML.

- `RecordedRun`: a run that is read from its folder.
- `History`: the costs of a run over the generations.
- `Page`: the HTML of a page.

May import `record`, `progress`, `problems` and the layers below them. Only `figure.py` imports
Matplotlib.
"""
