"""The addresses of the project: those of the library, and a home page that shows the user."""

from django.http import JsonResponse
from django.urls import include, path


# docs: use
def user_of(request):
    account = request.user.socialaccount_set.get(provider="aldaba")
    claims = account.extra_data["userinfo"]
    return {"sub": account.uid, "email": request.user.email, "name": claims["name"]}
# docs: end


def home(request):
    return JsonResponse({"user": user_of(request) if request.user.is_authenticated else None})


# docs: urls
urlpatterns = [path("accounts/", include("allauth.urls"))]
# docs: end
urlpatterns += [path("", home)]
