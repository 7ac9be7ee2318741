// What htmx cannot do: follow jobs as they tell, fit frames to what is in them, drag labels, tick many, count an upload.
"use strict";
(() => {
  const followed = new Map();

  function again() {
    return htmx.ajax("GET", location.pathname + location.search, {
      target: "#page", select: "#page", swap: "outerHTML show:none",
    });
  }

  function follow(box) {
    const where = box.dataset.follow;
    const events = new EventSource(where);
    followed.set(box, events);
    events.addEventListener("steps", (event) => {
      box.querySelector(".told").innerHTML = JSON.parse(event.data);
      const going = [...box.querySelectorAll("[data-step]")].map((step) => step.dataset.step);
      document.querySelectorAll("[data-while]").forEach((one) => { one.disabled = !going.includes(one.dataset.while); });
    });
    events.addEventListener("ended", () => {
      events.close();
      followed.delete(box);
      if (box.isConnected) again();
    });
  }

  function fit(frame) {
    const page = frame.contentDocument;
    if (!page || !page.body) return;
    const fitted = () => { frame.style.height = `${Math.min(page.documentElement.scrollHeight + 4, 30000)}px`; };
    fitted();
    page.addEventListener("toggle", fitted, true);
    new ResizeObserver(fitted).observe(page.body);
  }

  function draggable(tree) {
    let held = null;
    tree.addEventListener("dragstart", (event) => {
      held = event.target.dataset.label;
      event.dataTransfer.setData("text/plain", held);
    });
    tree.addEventListener("dragover", (event) => {
      const over = event.target.closest("[data-group]");
      if (!held || !over) return;
      event.preventDefault();
      over.classList.add("over");
    });
    tree.addEventListener("dragleave", (event) => event.target.classList.remove("over"));
    tree.addEventListener("drop", (event) => {
      const over = event.target.closest("[data-group]");
      if (!held || !over || over.dataset.label === held) return;
      event.preventDefault();
      htmx.ajax("POST", tree.dataset.tree, {
        target: "#page", select: "#page", swap: "outerHTML show:none",
        values: { name: tree.dataset.name, node: held, target: over.dataset.label },
      });
      held = null;
    });
    tree.addEventListener("keydown", (event) => {
      const links = [...tree.querySelectorAll("a")].filter((link) => link.offsetParent !== null);
      const at = links.indexOf(document.activeElement);
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
      const branch = document.activeElement.closest("li").querySelector("details");
      if (event.key === "ArrowRight" && branch) branch.open = true;
      else if (event.key === "ArrowLeft" && branch) branch.open = false;
      else if (to !== undefined && links[to]) links[to].focus();
      else return;
      event.preventDefault();
    });
  }

  function here() {
    const screen = document.querySelector(".way [aria-current]");
    if (screen) screen.scrollIntoView({ inline: "center", block: "nearest" });
  }

  function upload(form) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const bar = form.querySelector("progress");
      const sent = new XMLHttpRequest();
      bar.hidden = false;
      sent.upload.addEventListener("progress", (told) => { bar.value = told.loaded / (told.total || 1); });
      sent.addEventListener("loadend", () => {
        if (sent.status === 413 || sent.status === 0) {
          document.getElementById("busy").textContent = sent.responseText || "The file was not received whole.";
          bar.hidden = true;
        } else {
          const told = new DOMParser().parseFromString(sent.responseText, "text/html").getElementById("page");
          if (told) { document.getElementById("page").replaceWith(told); htmx.process(told); dress(told); }
          else location.reload();
        }
      });
      sent.open("POST", form.action);
      sent.send(new FormData(form));
    });
  }

  function dress(root) {
    for (const [box, events] of followed) if (!box.isConnected) { events.close(); followed.delete(box); }
    root.querySelectorAll("[data-follow]").forEach(follow);
    root.querySelectorAll("iframe.drawn:not([data-scrolls])").forEach((frame) => {
      frame.addEventListener("load", () => fit(frame));
      if (frame.contentDocument && frame.contentDocument.readyState === "complete") fit(frame);
    });
    here();
    root.querySelectorAll("[data-tree]").forEach(draggable);
    root.querySelectorAll("[data-upload]").forEach(upload);
    root.querySelectorAll("[data-all]").forEach((all) => all.addEventListener("change", () => {
      document.querySelectorAll(`input[type=checkbox][name="${all.dataset.all}"]`).forEach((one) => { one.checked = all.checked; });
    }));
    root.querySelectorAll("[data-confirm]").forEach((form) => form.addEventListener("submit", (event) => {
      if (!confirm(form.dataset.confirm)) event.preventDefault();
    }));
  }

  document.addEventListener("DOMContentLoaded", () => dress(document));
  window.addEventListener("resize", here);
  document.addEventListener("htmx:afterSwap", (event) => { if (event.detail.target.id === "page" || event.target.id === "page") dress(document.getElementById("page")); });
  document.addEventListener("htmx:beforeRequest", () => { document.getElementById("busy").textContent = ""; });
  document.addEventListener("htmx:responseError", (event) => {
    document.getElementById("busy").textContent = event.detail.xhr.responseText || "The studio did not answer.";
  });
  document.addEventListener("htmx:sendError", () => { document.getElementById("busy").textContent = "The studio did not answer. Is it still running?"; });
})();
