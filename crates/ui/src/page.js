// Adds to pages that work without it: times in the browser's zone, and a box that shows a password.
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
  localTimes(document);
  // Another script has replaced a part of the page.
  document.addEventListener('aldaba:fresh', (event) => localTimes(event.target));

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
