"""The applications of docs/your-library.md whose dependencies are heavy: Apache, Ruby and Java."""

import os
from pathlib import Path

from libraries import SOURCES, Application, try_all
from pages import done

INSTALLED = Path(os.environ["ALDABA_TEST_LIBRARIES"])

APPLICATIONS = [
    Application(
        "Apache mod_auth_openidc", "apache",
        ["sh", SOURCES / "apache/serve.sh"],
        login="/", logout="/oidc?logout={app}%2Fsigned-out", refresh="/token.json",
    ),
    Application("OmniAuth", "omniauth", ["ruby", SOURCES / "omniauth/app.rb"]),
    Application(
        "Spring Security", "spring", ["java", "-jar", INSTALLED / "java/spring/spring.jar"],
        login="/oauth2/authorization/aldaba", refresh="/token", environment={"RENEW_SECONDS": "3600"},
    ),
    Application("Nimbus", "nimbus", ["java", "-jar", INSTALLED / "java/nimbus/nimbus.jar"], refresh="/refresh"),
]

if __name__ == "__main__":
    done(try_all(APPLICATIONS))
