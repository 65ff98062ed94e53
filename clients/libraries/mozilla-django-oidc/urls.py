"""The addresses of the project: those of the library, and a home page that shows the user."""

from django.http import HttpResponse, JsonResponse
from django.template import engines
from django.urls import include, path

PAGE = """<form method="post" action="{% url 'oidc_logout' %}">{% csrf_token %}<button>Sign out</button></form>"""


def home(request):
    user = request.user
    known = {"sub": user.username, "email": user.email, "name": user.first_name} if user.is_authenticated else None
    return JsonResponse({"user": known})


def leave(request):
    return HttpResponse(engines["django"].from_string(PAGE).render({}, request))


# docs: urls
urlpatterns = [path("oidc/", include("mozilla_django_oidc.urls"))]
# docs: end
urlpatterns += [path("", home), path("leave", leave)]
