"""The studio: the workbench in the browser. It edits a Recipe, runs steps in processes of their own, and shows Events
and a Release; no algorithm lives here.

- `workspace`: the folder it works in, and one piece of work: a table, a recipe, trials. State is in plain files.
- `form`: a recipe as a plain mapping, and how screens change it.
- `jobs`: processes: started, queued, followed, ended. `child` is what runs in one; `tasks` what it does.
- `guard`: who may ask, how often and how much. `uploads`: files that come in, streamed to disk.
- `pages`: templates and what every page shows. `screens/`: one module a screen. `app`: addresses; `serve`: the server.
"""
