"""The addresses of one's own account."""

from django.urls import path

from clerk_project.account import views

app_name = "account"
urlpatterns = [
    path("", views.home, name="home"),
    path("tokens/", views.make_token, name="make_token"),
    path("tokens/<int:pk>/revoke/", views.revoke_token, name="revoke_token"),
    path("two-factor/", views.set_up, name="two_factor"),
    path("two-factor/remove/", views.remove_second_factor, name="remove_second_factor"),
    path("code/", views.enter_code, name="code"),
    path("password/<uidb64>/<token>/", views.ChoosePassword.as_view(), name="choose_password"),
]
