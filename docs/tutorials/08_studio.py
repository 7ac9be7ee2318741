"""
In the studio
=============

The same way in the browser: look at a table, try settings, see what survives, release. It needs
``pip install 'sfumato[studio]'``; nothing leaves your machine, and nothing is entered in your ledger before you say
"release".
"""

import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import sfumato as sf

folder = Path(tempfile.mkdtemp())
patients = sf.datasets.load("patients", rows=300, seed=3).table.to_pandas().drop(columns="diagnoses")
patients.to_csv(folder / "patients.csv", index=False)

# %%
# Start it
# --------
# In the shell: ``sfumato studio patients.csv``. It prints an address with a token and opens it in your browser. It
# listens on this machine alone, works in a folder that only you may read, and ends with Ctrl-C.

words = [sys.executable, "-m", "sfumato", "studio", "patients.csv", "--no-browser", "--port", "0"]
settings = {**os.environ, "COLUMNS": "300", "XDG_STATE_HOME": str(folder)}
pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
studio = subprocess.Popen(words, cwd=folder, env=settings, text=True, **pipes)
address = re.search(r"http://\S+", studio.stdout.readline()).group()
print(re.sub(r"token=\S+", "token=...", re.sub(r":\d+/", ":PORT/", address)))

# %%
# The first screen has the table; nothing but this address is asked for anything.

visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
page = visitor.open(address).read().decode()
print(re.search(r"<title>(.*?)</title>", page).group(1))
studio.terminate()
studio.wait()
studio.stdout.close()

# %%
# From there
# ----------
# Each screen is one decision, and each can be gone back to:
#
# 1. **Table**: upload a file, or name one in the folder in which the studio was started; a first look at every column.
# 2. **Attributes**: what each column is. The draft is filled in, with its reasons; change what is wrong.
#
# .. image:: /studio/attributes.png
#    :alt: The screen Attributes: how many people are alone with what others may know, and a role for each column
#
# 3. **Trees**: how labels become coarser, where you want that.
# 4. **What must survive** and **Privacy**: clusters or classes; requirements as sentences with numbers, or a budget.
#
# .. image:: /studio/privacy.png
#    :alt: The screen Privacy: requirements as sentences in which numbers can be changed
#
# 5. **Run**: a trial, which no ledger knows.
#
# .. image:: /studio/run.png
#    :alt: The screen Run: a trial that was verified, and what survived in it
#
# 6. **Compare** trials, and **understand** why a column looks as it does.
#
# .. image:: /studio/understand.png
#    :alt: The screen Understand: what a column still says, and why it looks as it does
#
# 7. **Release**: the trial that was looked at is signed, written, entered in your ledger and verified again.
#
# (1,500 generated patients; the pictures are taken in a real browser by ``python -m tools.studio_pictures``.)
#
# At any time the recipe can be downloaded: it is the same YAML that ``sfumato publish`` takes.
#
# What next
# ---------
# Every screen: :doc:`/studio`.
#
# sphinx_gallery_thumbnail_path = 'studio/run.png'
