"""The page and the pictures of one run, from its folder or its result.

Pages about several runs are in `islands.studies.pages`, which uses the same history, pictures and
HTML.

- May import: what a run leaves behind (`islands.record`, `islands.progress`), and the problem, of
  which solutions are drawn. Matplotlib is imported in `figure.py` only.
- The nouns: `RecordedRun`, a run that is read from its folder; `History`, its costs over the
  generations; `Page`, the HTML that is written.
"""
