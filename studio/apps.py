from django.apps import AppConfig


class StudioConfig(AppConfig):
    name = "studio"

    def ready(self) -> None:
        # Models can be imported from here on only.
        from studio import audited

        audited.begin()
