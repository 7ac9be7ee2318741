// What the theme and tables lack for people who use a keyboard or have pages read to them.
document.addEventListener("DOMContentLoaded", () => {
  // The name of the search button is all that it shows, and a tutorial's link has one though its text is hidden.
  document.querySelectorAll(".search-button-field, .sphx-glr-thumbcontainer a").forEach((one) => {
    one.setAttribute("aria-label", one.textContent.trim().replace(/\s+/g, " "));
  });
  document.querySelectorAll("summary").forEach((one) => {
    if (!one.textContent.trim()) one.setAttribute("aria-label", "Show or hide the pages below");
  });
  document.querySelectorAll("th").forEach((one) => {
    if (one.textContent.trim()) return;
    const cell = document.createElement("td");
    one.replaceWith(cell);
  });
  // Whatever scrolls can be reached by the keyboard.
  const reach = () => document.querySelectorAll(".bd-article table, .bd-article pre").forEach((one) => {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
  });
  reach();
  window.addEventListener("resize", reach);
});
