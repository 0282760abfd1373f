from django.urls import path

from deployments import pages, views

urlpatterns = [
    path("chat/<str:slug>", pages.chat_page, name="chat-page"),
    path("api/chat/<str:slug>", views.ChatView.as_view(), name="chat"),
    path("api/chat/<str:slug>/access", views.AccessView.as_view(), name="chat-access"),
    path(
        "api/chat/<str:slug>/conversations/<str:conversation_id>",
        views.ConversationView.as_view(),
        name="chat-conversation",
    ),
]
