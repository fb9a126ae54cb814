"""The settings of a run: from the user's options to a complete, checked `RunSpec`.

Options come from the command line, from Python and from TOML files; the precedence is default,
preset, file, option. Defaults depend on the problem, its size, the time limit and the device.

- `Request`: what a user has set, by full name.
- `RunSpec`: all settings of a run, validated.
- `Resolved`: a `RunSpec` and its problem, created by `resolve` only.

May import `archipelago`, `progress`, the components of a run and the layers below them; it
creates no islands and writes no files.
"""
