from django.apps import AppConfig


class RedactionConfig(AppConfig):
    name = "redaction"
