"""The first start of an empty Studio: an admin with a password shown once, and the demo."""

from pathlib import Path

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils.crypto import get_random_string

from credentials.declare import Context
from deployments.models import ChatDeployment
from studio import studio_file, yaml_text

ADMIN = "admin"
DEMO = Path(__file__).with_name("demo.yaml")


@transaction.atomic
def prepare() -> str | None:
    """Make an admin and the demo if nobody has an account yet, and return the admin's password; else None.

    What an owner deletes later stays deleted.
    """
    users = get_user_model()._default_manager
    if users.exists():
        return None
    # No letters or digits that are read for another one: 16 of 31 signs are 79 bits.
    password = get_random_string(16, "abcdefghjkmnpqrstuvwxyz23456789")
    users.create_superuser(username=ADMIN, email="", password=password)
    studio_file.apply(yaml_text.read(DEMO.read_bytes()), Context())
    return password


def a_chat() -> str | None:
    """Return the slug of a chat that visitors can open: the demo while there is one."""
    slugs = ChatDeployment.objects.filter(active=True).order_by("created_at").values_list("slug", flat=True)
    return "demo" if "demo" in slugs else slugs.first()
