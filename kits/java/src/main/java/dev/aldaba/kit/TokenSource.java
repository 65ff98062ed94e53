package dev.aldaba.kit;

/** Provides access tokens; usually a {@link dev.aldaba.kit.signin.Session}. */
public interface TokenSource {
    /** A valid access token. */
    Secret accessToken();

    /** A new access token, after the service refused this one. */
    Secret replaceToken(Secret refused);

    /** A fixed access token that cannot be renewed; for scripts and tests. */
    static TokenSource fixed(Secret token) {
        return new TokenSource() {
            @Override
            public Secret accessToken() {
                return token;
            }

            @Override
            public Secret replaceToken(Secret refused) {
                throw new SignInRequiredException("the access token was refused and cannot be renewed");
            }
        };
    }
}
