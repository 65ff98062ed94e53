// A mail server on localhost that accepts every mail and remembers it by its recipient.

import { createServer } from 'node:net';

const WAIT_MS_MAX = 20_000;

/** The text of a part in quoted-printable. */
function decoded(text) {
  const joined = text.replace(/=\r\n/g, '');
  const bytes = joined.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** The plain text of a mail. */
function plainText(mail) {
  const [, part] = /^content-type: text\/plain[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/im.exec(mail);
  return decoded(part);
}

export class Mailbox {
  #server;
  #come = [];
  #waiting = [];

  static async listen(port) {
    const mailbox = new Mailbox();
    mailbox.#server = createServer((socket) => mailbox.#talk(socket));
    await new Promise((resolve, reject) => {
      mailbox.#server.once('error', reject).listen(port, 'localhost', resolve);
    });
    return mailbox;
  }

  /** RFC 5321, as far as a server must speak it. */
  #talk(socket) {
    let [text, recipient, isData] = ['', '', false];
    const say = (line) => socket.write(`${line}\r\n`);
    const hear = (line) => {
      const [command] = line.toUpperCase().split(' ', 1);
      if (command === 'QUIT') return socket.end('221 bye\r\n');
      if (command === 'RCPT') [, recipient] = /<(.*)>/.exec(line);
      if (command === 'DATA') isData = true;
      return say(isData ? '354 go on' : '250 fine');
    };
    socket.setEncoding('latin1').on('error', () => {}).on('data', (piece) => {
      text += piece;
      for (;;) {
        const end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const whole = text.slice(0, end);
        text = text.slice(end + (isData ? 5 : 2));
        if (isData) {
          isData = false;
          this.#take({ recipient, text: plainText(whole) });
          say('250 taken');
        } else hear(whole);
      }
    });
    say('220 localhost');
  }

  #take(mail) {
    this.#come.push(mail);
    for (const look of this.#waiting.splice(0)) look();
  }

  /** The first link in a mail to this address, once there is one. */
  async link(recipient) {
    const deadline = AbortSignal.timeout(WAIT_MS_MAX);
    for (;;) {
      const mail = this.#come.find((one) => one.recipient === recipient);
      if (mail) return /https?:\/\/\S+/.exec(mail.text)[0];
      await new Promise((resolve, reject) => {
        this.#waiting.push(resolve);
        deadline.addEventListener('abort', () => reject(new Error(`no mail to ${recipient}`)), { once: true });
      });
    }
  }

  close() {
    this.#server.close();
  }
}
