"""Every URL of Studio."""

from django.contrib import admin
from django.urls import include, path

from studio import views

urlpatterns = [
    path("", views.start),
    path("health/live", views.live),
    path("health/ready", views.ready),
    path("admin/", admin.site.urls),
    path("", include("deployments.urls")),
]

handler400 = "studio.views.bad_request"
handler403 = "studio.views.forbidden"
handler404 = "studio.views.not_found"
handler500 = "studio.views.server_error"
