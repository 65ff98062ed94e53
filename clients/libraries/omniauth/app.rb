# Signs users in with OmniAuth in Sinatra; Rails takes the same options in config/initializers/omniauth.rb.

require "json"
require "omniauth"
require "omniauth_openid_connect"
require "sinatra/base"

SWD.url_builder = URI::HTTP if ENV["ISSUER"].start_with?("http:") # discovery on loopback, without TLS

class Panel < Sinatra::Base
  set :port, ENV["PORT"]
  set :bind, "127.0.0.1"
  set :environment, :production

  # docs: settings
  use Rack::Session::Pool # in Rails: a session store on the server, for the cookie is too small for tokens
  use OmniAuth::Builder do
    provider :openid_connect,
             name: :aldaba,
             issuer: ENV["ISSUER"],
             discovery: true,
             scope: %i[openid profile email],
             client_auth_method: :basic,
             client_options: {
               identifier: ENV["CLIENT_ID"],
               secret: ENV["CLIENT_SECRET"],
               redirect_uri: "#{ENV['APP']}/auth/aldaba/callback"
             }
  end
  # docs: end

  get "/login" do
    token = Rack::Protection::AuthenticityToken.token(session)
    field = %(<input type="hidden" name="authenticity_token" value="#{token}">)
    %(<form method="post" action="/auth/aldaba">#{field}<button>Sign in</button></form>)
  end

  # docs: use
  get "/auth/aldaba/callback" do
    auth = request.env["omniauth.auth"]
    session[:user] = { sub: auth.uid, email: auth.info.email, name: auth.info.name }
    session[:id_token] = auth.credentials.id_token
    redirect "/"
  end

  get "/logout" do
    query = { id_token_hint: session[:id_token], post_logout_redirect_uri: "#{ENV['APP']}/" }
    session.clear
    redirect "#{ENV['ISSUER']}/connect/endsession?#{URI.encode_www_form(query)}"
  end
  # docs: end

  get "/auth/failure" do
    content_type :json
    halt 502, { error: params["message"] }.to_json
  end

  get "/" do
    content_type :json
    { user: session[:user] }.to_json
  end

  run!
end
