from django.apps import AppConfig


class DeploymentsConfig(AppConfig):
    name = "deployments"

    def ready(self) -> None:
        # Models can be imported from here on only.
        from deployments import publishing
        from workflows.publishing import register

        register(publishing.check)
