// Signs users in with ASP.NET Core. Written from its documentation; no test runs it.

using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authentication.Cookies;
using Microsoft.AspNetCore.Authentication.OpenIdConnect;
using Microsoft.IdentityModel.Protocols.OpenIdConnect;

var builder = WebApplication.CreateBuilder(args);

// docs: settings
builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie()
    .AddOpenIdConnect(options =>
    {
        options.Authority = builder.Configuration["ISSUER"];
        options.ClientId = builder.Configuration["CLIENT_ID"];
        options.ClientSecret = builder.Configuration["CLIENT_SECRET"];
        options.ResponseType = OpenIdConnectResponseType.Code;
        options.ResponseMode = OpenIdConnectResponseMode.Query;
        options.UsePkce = true;
        options.Scope.Add("email"); // beside openid and profile
        options.Scope.Add("offline_access");
        options.SaveTokens = true; // the sign-out sends the id_token as id_token_hint
        options.MapInboundClaims = false; // the claims keep their names: sub, email, name
        options.TokenValidationParameters.NameClaimType = "name";
    });
builder.Services.AddAuthorization();
// docs: end

var app = builder.Build();
app.UseAuthentication();
app.UseAuthorization();

// docs: use
app.MapGet("/login", () => Results.Challenge(new AuthenticationProperties { RedirectUri = "/" }));
app.MapGet("/logout", () => Results.SignOut(
    new AuthenticationProperties { RedirectUri = "/" },
    [CookieAuthenticationDefaults.AuthenticationScheme, OpenIdConnectDefaults.AuthenticationScheme]));
// docs: end

app.MapGet("/", (HttpContext context) => new
{
    user = context.User.Identity?.IsAuthenticated != true ? null : new
    {
        sub = context.User.FindFirst("sub")?.Value,
        email = context.User.FindFirst("email")?.Value,
        name = context.User.Identity.Name,
    },
});

app.Run();
