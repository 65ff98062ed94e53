<?php

/*
 * A complete receiver of Aldaba's webhooks, both families, with PHP 8.1 or newer only.
 *
 *     export WEBHOOK_SECRET='the secret of the subscription' INBOX=/var/lib/panel/inbox
 *     php -S 127.0.0.1:8443 receiver.php      # or behind any web server that runs PHP
 *     php receiver.php work                   # processes the events
 *
 * It answers the handshakes, verifies every delivery, and stores each event once, in a file below INBOX that is named
 * after its id, before it answers. The worker processes the files. A reverse proxy in front of it provides TLS and
 * port 443.
 */

declare(strict_types=1);

const BODY_BYTES_MAX = 4 * 1024 * 1024;
const KEPT_SECONDS = 30 * 24 * 3600;
const GUID = '/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iD';

/** Both families sign alike: upper-case hexadecimal HMAC-SHA256 of the raw body. */
function is_signed(string $body, string $secret): bool
{
    $expected = 'sha256=' . strtoupper(hash_hmac('sha256', $body, $secret));
    $given = $_SERVER['HTTP_SVC_WEBHOOK_SIGNATURE'] ?? $_SERVER['HTTP_MS_SIGNATURE'] ?? '';
    return hash_equals($expected, $given);
}

/** Stores the event, unless it is there: every attempt to deliver an event carries the same id. */
function store(string $inbox, string $id, string $body): void
{
    $path = "$inbox/" . strtolower($id) . '.json';
    if (file_exists($path)) {
        return;
    }
    $temporary = tempnam($inbox, 'new');
    $file = $temporary === false ? false : fopen($temporary, 'wb');
    if ($file === false || fwrite($file, $body) !== strlen($body) || !fflush($file) || !fsync($file)) {
        throw new RuntimeException('the event cannot be written');
    }
    fclose($file);
    // A link never replaces a file, so of two simultaneous attempts one stores the event.
    if (!@link($temporary, $path) && !file_exists($path)) {
        throw new RuntimeException('the event cannot be stored');
    }
    unlink($temporary);
}

/** @return array{int, string} the status and the text of the response */
function receive(string $inbox, string $secret): array
{
    if ($_SERVER['REQUEST_METHOD'] === 'GET') {
        // Invoicing's handshake. Echo only a GUID, because anybody can call this.
        $asked = $_GET['echo'] ?? '';
        return is_string($asked) && preg_match(GUID, $asked) === 1
            ? [200, $asked]
            : [400, 'A GET is answered only with the query echo=<GUID>.'];
    }
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return [405, 'Deliveries are posted here.'];
    }
    $body = file_get_contents('php://input', false, null, 0, BODY_BYTES_MAX + 1);
    if ($body === false || strlen($body) > BODY_BYTES_MAX) {
        return [413, 'The body is too large.'];
    }
    // Verify the raw bytes before parsing them.
    if (!is_signed($body, $secret)) {
        return [401, 'The signature does not match.'];
    }
    $event = json_decode($body, true);
    if (!is_array($event)) {
        return [400, 'The body is no JSON.'];
    }
    if (($event['EventType']['EventType'] ?? '') === 'Acknowledge') {
        return [200, ''];
    }
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? $event['OutgoingId'] ?? '';
    if (!is_string($id) || preg_match(GUID, $id) !== 1) {
        return [400, 'The delivery has no id: the proxy must pass the header webhook-id on.'];
    }
    store($inbox, $id, $body);
    return [200, ''];
}

function process(array $event): void
{
    if (isset($event['Entity'])) {
        $told = [
            'kind' => 'invoicing',
            'entity' => $event['Entity'],
            'id' => $event['EntityId'],
            'changes' => $event['Changes'],
        ];
    } else {
        $change = json_decode($event['JsonData'], true, 512, JSON_THROW_ON_ERROR);
        $told = [
            'kind' => 'accounting',
            'event' => $event['EventType']['SemanticName'],
            'company' => $event['ExtraPartitionInformation']['PartitionClientId'],
            'id' => $change['CorrelationId'],
            'sequenceVersion' => $change['SequenceVersion'],
        ];
    }
    // Here: GET the record by its id, in the context of its company, and store it.
    echo json_encode($told, JSON_THROW_ON_ERROR), "\n";
}

/** Processes the stored events, in the order of their arrival, and deletes them once no attempt can repeat them. */
function work(string $inbox): never
{
    while (true) {
        clearstatcache();
        $arrived = [];
        foreach (glob("$inbox/*.json") ?: [] as $path) {
            if (!file_exists("$path.done") && !file_exists("$path.failed")) {
                $arrived[$path] = filemtime($path);
            } elseif (filemtime($path) < time() - KEPT_SECONDS) {
                array_map('unlink', glob("$path*") ?: []);
            }
        }
        asort($arrived);
        foreach (array_keys($arrived) as $path) {
            try {
                process(json_decode((string) file_get_contents($path), true, 512, JSON_THROW_ON_ERROR));
                // After a crash before this line the event is processed again: write this mark in the transaction of
                // your work.
                touch("$path.done");
            } catch (Throwable $failure) {
                // Set it aside, so that the others go on. Delete the mark to process it again.
                error_log("$path: {$failure->getMessage()}");
                touch("$path.failed");
            }
        }
        usleep(100_000);
    }
}

$secret = (string) getenv('WEBHOOK_SECRET');
$inbox = (string) getenv('INBOX');
if ($secret === '' || !is_dir($inbox)) {
    error_log('Set WEBHOOK_SECRET to the secret of the subscription, and INBOX to a folder of your own.');
    http_response_code(500);
    exit(2);
}
if (PHP_SAPI === 'cli') {
    work($inbox);
}
try {
    [$status, $text] = receive($inbox, $secret);
} catch (RuntimeException $failure) {
    error_log($failure->getMessage());
    [$status, $text] = [503, 'The event could not be stored. Try again.'];
}
http_response_code($status);
header('Content-Type: text/plain; charset=utf-8');
echo $text;
