"""Puts our admin site in the place of Django's."""

from django.contrib.admin.apps import AdminConfig


class StudioAdminConfig(AdminConfig):
    default_site = "studio.admin_site.StudioAdminSite"
