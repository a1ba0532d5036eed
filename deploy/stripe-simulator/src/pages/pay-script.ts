/**
 * Enhancements of the payment form, which works without script: digits are grouped, a listed card can be filled in, and
 * a declined payment keeps the page and its values.
 */
export const payScript = `
(() => {
  'use strict';
  const form = document.getElementById('pay');
  if (!form) return;
  const button = form.querySelector('button[type=submit]');
  const label = button.querySelector('.label');
  const buttonText = label.textContent;
  const alertBox = document.getElementById('form-alert');
  const field = (name) => form.elements.namedItem(name);
  const digits = (text, most) => text.replace(/\\D/g, '').slice(0, most);

  const regroup = (input, shape) => {
    input?.addEventListener('input', () => {
      const before = input.selectionStart ?? input.value.length;
      const atEnd = before === input.value.length;
      const digitsBefore = digits(input.value.slice(0, before), 99).length;
      input.value = shape(input.value);
      if (atEnd) return;
      let at = 0;
      for (let seen = 0; at < input.value.length && seen < digitsBefore; at++) if (/\\d/.test(input.value[at])) seen++;
      input.setSelectionRange(at, at);
    });
  };
  regroup(field('number'), (text) => digits(text, 16).replace(/(\\d{4})(?=\\d)/g, '$1 '));
  regroup(field('expiry'), (text) => {
    let typed = digits(text, 4);
    if (/^[2-9]/.test(typed)) typed = '0' + typed;
    return typed.length > 2 ? typed.slice(0, 2) + ' / ' + typed.slice(2, 4) : typed;
  });
  regroup(field('cvc'), (text) => digits(text, 4));

  const clear = (name) => {
    const input = field(name);
    if (!input) return;
    input.removeAttribute('aria-invalid');
    document.getElementById(name + '-error').textContent = '';
  };
  const names = ['email', 'shippingName', 'line1', 'line2', 'city', 'state', 'postalCode', 'number', 'expiry', 'cvc', 'name', 'terms'];
  for (const name of names) field(name)?.addEventListener('input', () => clear(name));

  const show = (result) => {
    const input = result.field && field(result.field);
    if (!input) {
      alertBox.textContent = result.message;
      return;
    }
    input.setAttribute('aria-invalid', 'true');
    document.getElementById(result.field + '-error').textContent = result.message;
    input.focus();
  };

  for (const one of document.querySelectorAll('[data-card]')) {
    one.addEventListener('click', () => {
      field('number').value = one.dataset.card;
      field('expiry').value = field('expiry').value || '12 / ' + String(new Date().getFullYear() + 3).slice(2);
      field('cvc').value = field('cvc').value || '123';
      field('name').value = field('name').value || 'Test Parent';
      for (const name of names) clear(name);
      one.closest('details').open = false;
      button.focus();
    });
  }

  const busy = (is) => {
    button.setAttribute('aria-busy', String(is));
    label.textContent = is ? 'Processing…' : buttonText;
  };
  let inFlight = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (inFlight) return;
    inFlight = true;
    busy(true);
    for (const name of names) clear(name);
    alertBox.textContent = '';
    try {
      const response = await fetch(form.action, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams(new FormData(form)),
      });
      const result = await response.json();
      if (result.status === 'expired' || result.status === 'not_found') return location.reload();
      if (result.redirectUrl) return location.assign(result.redirectUrl);
      show(result);
    } catch {
      alertBox.textContent = 'The payment page could not be reached. Check your connection and press Pay again: you are charged once at most.';
    }
    inFlight = false;
    busy(false);
  });
  addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
})();
`.trim()
