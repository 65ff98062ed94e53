// Adds to pages that work without it: live updates and filters. Times in the browser's zone and copy buttons are of page.js.
'use strict';
(() => {
  /** What was done is said once: reading the page again, or a form of it, does not say it again. */
  const here = new URL(location.href);
  if (here.searchParams.has('done')) {
    here.searchParams.delete('done');
    history.replaceState(null, '', here);
  }

  // What was handed over and not fetched must not wait for the next person.
  try { sessionStorage.removeItem('aldaba.authorize'); } catch { /* There is no storage. */ }

  /** Hands values over to another page of this origin: in the storage of the tab, never in a URL. */
  document.addEventListener('click', (event) => {
    const link = event.target.closest && event.target.closest('a[data-hand-over]');
    // A link that opens in another tab finds nothing there.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (!link || link.origin !== location.origin) return;
    const values = {};
    for (const pair of link.dataset.handOver.split(' ')) {
      const [name, id] = pair.split('=');
      const source = document.getElementById(id);
      if (source) values[name] = source.textContent;
    }
    try { sessionStorage.setItem('aldaba.authorize', JSON.stringify(values)); } catch { /* The page opens without them. */ }
  });

  /** What opens above the page closes with Escape and with a click elsewhere. */
  const openAbove = 'details.teams[open], td details.more[open]';
  document.addEventListener('click', (event) => {
    for (const one of document.querySelectorAll(openAbove)) {
      if (!one.contains(event.target)) one.open = false;
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    for (const one of document.querySelectorAll(openAbove)) {
      one.open = false;
      one.querySelector('summary').focus();
    }
  });

  /** A select or a box that submits its form by itself. */
  document.addEventListener('change', (event) => {
    const target = event.target;
    if (target.matches && target.matches('[data-submit]')) target.form.requestSubmit();
  });

  /** A field that leaves those options of a select that contain its text. */
  for (const search of document.querySelectorAll('input[data-filter]')) {
    const select = document.getElementById(search.dataset.filter);
    if (!select) continue;
    search.closest('[hidden]').hidden = false;
    const groups = Array.from(select.children, (group) => [group, Array.from(group.children)]);
    search.addEventListener('input', () => {
      const wanted = search.value.trim().toLowerCase();
      const chosen = select.value;
      const left = [];
      for (const [group, options] of groups) {
        const name = group.label.toLowerCase();
        const found = options.filter((one) => name.includes(wanted) || one.textContent.toLowerCase().includes(wanted));
        group.replaceChildren(...found);
        if (found.length) left.push(group);
      }
      select.replaceChildren(...left);
      select.value = chosen;
      if (select.selectedIndex < 0 && left.length) select.selectedIndex = 0;
    });
  }

  // Live regions: the server says which version of the page is the present one. If it is another one, the same page is read
  // again. What the reader has open or focused stays.
  const region = document.querySelector('[data-live]');
  if (!region || !window.EventSource) return;
  // The label may stand in a part that is replaced.
  let isLive = false;
  const showState = () => {
    const state = document.querySelector('.live');
    if (state) { state.hidden = !isLive; state.classList.toggle('paused', source.readyState !== EventSource.OPEN); }
  };
  const known = new Set(Array.from(document.querySelectorAll('[data-row]'), (row) => row.dataset.row));
  const versionOf = (root) => { const mark = root.querySelector('[data-version]'); return mark && mark.dataset.version; };
  let version = versionOf(document);
  let isReading = false;
  let isStale = false;
  const refresh = async () => {
    if (isReading) { isStale = true; return; }
    isReading = true;
    try {
      const response = await fetch(location.href, { credentials: 'same-origin', headers: { accept: 'text/html' } });
      if (!response.ok || response.redirected) { location.reload(); return; }
      const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
      version = versionOf(fresh);
      for (const part of document.querySelectorAll('[data-live-part]')) {
        const other = fresh.getElementById(part.id);
        if (!other || part.contains(document.activeElement) && part.querySelector('input:focus, textarea:focus')) continue;
        const open = Array.from(part.querySelectorAll('details[open][id]'), (one) => one.id);
        part.replaceChildren(...other.childNodes);
        for (const id of open) { const one = document.getElementById(id); if (one) one.open = true; }
        for (const row of part.querySelectorAll('[data-row]')) {
          if (!known.has(row.dataset.row)) { known.add(row.dataset.row); row.classList.add('fresh'); }
        }
        part.dispatchEvent(new Event('aldaba:fresh', { bubbles: true }));
      }
      showState();
    } catch {
      // The next message tries again.
    } finally {
      isReading = false;
      if (isStale) { isStale = false; refresh(); }
    }
  };
  const source = new EventSource(region.dataset.live);
  source.addEventListener('version', (event) => { if (event.data !== version) refresh(); });
  source.addEventListener('open', () => { isLive = true; showState(); });
  source.addEventListener('error', showState);
  addEventListener('pagehide', () => source.close());
})();
