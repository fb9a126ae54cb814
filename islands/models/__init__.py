"""Models: problems that many people have, each stated as a user of the package would.

Each file has one problem: its cost, a search by moves, a reader of the usual files and a picture.
Copy one and change it.
"""

from islands.models.job_shops import job_shop as job_shop
from islands.models.quadratic import qubo as qubo
