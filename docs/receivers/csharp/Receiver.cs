#:sdk Microsoft.NET.Sdk.Web
#:property PublishAot=false

// A complete receiver of Aldaba's webhooks, both families, with ASP.NET Core (.NET 10 or newer) only.
//
//     WEBHOOK_SECRET='the secret of the subscription' dotnet run Receiver.cs 8443
//
// It answers the handshakes, verifies every delivery, processes each event once, and answers before it processes it. A
// reverse proxy in front of it provides TLS and port 443.
//
// Written from the documentation of ASP.NET Core; no test has run it. For an older .NET put it, without its first two
// lines, into a project that `dotnet new web` has made.

using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Threading.Channels;

const int BodyBytesMax = 4 * 1024 * 1024;

string? secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET");
if (string.IsNullOrEmpty(secret))
{
    Console.Error.WriteLine("Set WEBHOOK_SECRET to the secret of the subscription.");
    return 2;
}
byte[] key = Encoding.UTF8.GetBytes(secret);
int port = args.Length > 0 ? int.Parse(args[0]) : 8443;

WebApplicationBuilder builder = WebApplication.CreateBuilder();
builder.Logging.ClearProviders();
builder.WebHost.ConfigureKestrel(options =>
{
    options.ListenLocalhost(port);
    options.Limits.MaxRequestBodySize = BodyBytesMax;
});
builder.Services.AddSingleton<Inbox>();
builder.Services.AddHostedService<Worker>();
WebApplication app = builder.Build();

// Invoicing's handshake. Echo only a GUID, because anybody can call this.
app.MapGet("/{**path}", (HttpRequest request) =>
    Guid.TryParseExact((string?)request.Query["echo"], "D", out Guid asked)
        ? Results.Text(asked.ToString("D"))
        : Results.Text("A GET is answered only with the query echo=<GUID>.",
            statusCode: StatusCodes.Status400BadRequest));

app.MapPost("/{**path}", async (HttpRequest request, Inbox inbox) =>
{
    using var buffer = new MemoryStream();
    try
    {
        await request.Body.CopyToAsync(buffer, request.HttpContext.RequestAborted);
    }
    catch (BadHttpRequestException refused)
    {
        // 413 where the body is larger than Kestrel's limit.
        return Results.Text("The body cannot be read.", statusCode: refused.StatusCode);
    }
    byte[] body = buffer.ToArray();
    // Verify the raw bytes before parsing them.
    if (!IsSigned(request.Headers, body))
    {
        return Results.Text("The signature does not match.", statusCode: StatusCodes.Status401Unauthorized);
    }
    JsonObject? notification;
    try
    {
        notification = JsonNode.Parse(body) as JsonObject;
    }
    catch (JsonException)
    {
        notification = null;
    }
    if (notification is null)
    {
        return Results.Text("The body is no JSON object.", statusCode: StatusCodes.Status400BadRequest);
    }
    if ((string?)notification["EventType"]?["EventType"] == "Acknowledge")
    {
        return Results.Text("");
    }
    // Every attempt to deliver an event carries the same id.
    string? id = (string?)request.Headers["webhook-id"] ?? (string?)notification["OutgoingId"];
    if (string.IsNullOrEmpty(id))
    {
        return Results.Text("The delivery has no id: the proxy must pass the header webhook-id on.",
            statusCode: StatusCodes.Status400BadRequest);
    }
    return inbox.TryAdd(id, notification)
        ? Results.Text("")
        : Results.Text("Too busy. Try again.", statusCode: StatusCodes.Status503ServiceUnavailable);
});

app.Run();
return 0;

// Both families sign alike: upper-case hexadecimal HMAC-SHA256 of the raw body.
bool IsSigned(IHeaderDictionary headers, byte[] body)
{
    string given = (string?)headers["svc-webhook-signature"] ?? (string?)headers["ms-signature"] ?? "";
    string expected = "sha256=" + Convert.ToHexString(HMACSHA256.HashData(key, body));
    return CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(expected), Encoding.UTF8.GetBytes(given));
}

/// <summary>
/// The events that wait, and the ids of those that were seen. Both are in memory only, so a restart loses them: a
/// receiver for production keeps them in its database.
/// </summary>
internal sealed class Inbox
{
    private const int IdsKeptMax = 100_000;
    private const int WaitingMax = 10_000;

    private readonly ConcurrentDictionary<string, bool> seen = new();
    private readonly ConcurrentQueue<string> byAge = new();
    private readonly Channel<JsonObject> waiting = Channel.CreateBounded<JsonObject>(WaitingMax);

    public ChannelReader<JsonObject> Waiting => waiting.Reader;

    /// <summary>Queues a new event and ignores one that was seen. False if too many wait.</summary>
    public bool TryAdd(string id, JsonObject notification)
    {
        if (!seen.TryAdd(id, true))
        {
            return true;
        }
        if (!waiting.Writer.TryWrite(notification))
        {
            // Forget it, so that its next attempt counts as new.
            seen.TryRemove(id, out _);
            return false;
        }
        byAge.Enqueue(id);
        while (byAge.Count > IdsKeptMax && byAge.TryDequeue(out string? oldest))
        {
            seen.TryRemove(oldest, out _);
        }
        return true;
    }
}

/// <summary>Processes the events, one after the other.</summary>
internal sealed class Worker(Inbox inbox) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stopping)
    {
        await foreach (JsonObject notification in inbox.Waiting.ReadAllAsync(stopping))
        {
            try
            {
                Process(notification);
            }
            catch (Exception failure)
            {
                // An event that cannot be processed must not end the worker.
                Console.Error.WriteLine(failure.Message);
            }
        }
    }

    private static void Process(JsonObject notification)
    {
        JsonObject told;
        if (notification.ContainsKey("Entity"))
        {
            told = new JsonObject
            {
                ["kind"] = "invoicing",
                ["entity"] = (string?)notification["Entity"],
                ["id"] = (string?)notification["EntityId"],
                ["changes"] = notification["Changes"]?.DeepClone(),
            };
        }
        else
        {
            JsonNode? change = JsonNode.Parse((string?)notification["JsonData"] ?? "null");
            told = new JsonObject
            {
                ["kind"] = "accounting",
                ["event"] = (string?)notification["EventType"]?["SemanticName"],
                ["company"] = (string?)notification["ExtraPartitionInformation"]?["PartitionClientId"],
                ["id"] = (string?)change?["CorrelationId"],
                ["sequenceVersion"] = (string?)change?["SequenceVersion"],
            };
        }
        // Here: GET the record by its id, in the context of its company, and store it.
        Console.WriteLine(told.ToJsonString());
    }
}
