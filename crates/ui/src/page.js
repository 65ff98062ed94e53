// Adds to pages that work without it: times in the browser's zone, copy and download buttons, and a box that shows a
// password.
'use strict';
(() => {
  const lang = document.documentElement.lang || 'en';
  // As the person writes dates, if that is the language of the page.
  const locale = (navigator.languages || []).find((one) => one.split('-')[0] === lang) || lang;
  const format = (parts) => new Intl.DateTimeFormat(locale, parts);
  const day = { month: 'short', day: 'numeric' };
  const clock = { hour: '2-digit', minute: '2-digit' };
  const seconds = { ...clock, second: '2-digit' };
  const whole = [format({ ...day, ...seconds }), format({ year: 'numeric', ...day, ...seconds })];
  const minute = [format({ ...day, ...clock }), format({ year: 'numeric', ...day, ...clock })];
  const hour = format(clock);
  const parts = { hour: [hour, hour], day: [format(day), format(day)], minute };

  /** The server writes UTC; the browser shows its own zone, and UTC on hover. */
  const localTimes = (root) => {
    const year = new Date().getFullYear();
    for (const time of root.querySelectorAll('time[datetime]:not([data-utc])')) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      const [thisYear, otherYears] = parts[time.dataset.part] || whole;
      time.dataset.utc = time.textContent;
      time.title = time.textContent;
      time.textContent = (at.getFullYear() === year ? thisYear : otherYears).format(at);
    }
  };

  const showButtons = (root) => {
    const names = navigator.clipboard ? 'button[data-copy], button[data-download]' : 'button[data-download]';
    for (const button of root.querySelectorAll(names)) button.hidden = false;
  };
  const enhance = (root) => { localTimes(root); showButtons(root); };
  enhance(document);
  // Another script has replaced a part of the page.
  document.addEventListener('aldaba:fresh', (event) => enhance(event.target));

  document.addEventListener('click', async (event) => {
    const button = event.target.closest && event.target.closest('button[data-copy], button[data-download]');
    const source = button && document.getElementById(button.dataset.copy || button.dataset.download);
    if (!source) return;
    if (button.dataset.download) {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([source.textContent], { type: 'text/plain' }));
      link.download = button.dataset.file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      return;
    }
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = button.dataset.copied;
    } catch {
      return;
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });

  for (const box of document.querySelectorAll('input[data-reveals]')) {
    const field = document.getElementById(box.dataset.reveals);
    if (!field) continue;
    const show = (isShown) => { box.checked = isShown; field.type = isShown ? 'text' : 'password'; };
    box.closest('[hidden]').hidden = false;
    box.addEventListener('change', () => show(box.checked));
    // Browsers offer to save what is in a field of the type password, and remember what is in any other.
    field.form.addEventListener('submit', () => show(false));
    addEventListener('pageshow', () => show(false));
  }
})();
