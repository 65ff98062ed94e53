// Swagger UI has the colours of its dark theme below this class. It is set before anything is drawn.
'use strict';
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  apply();
  dark.addEventListener('change', apply);
})();
