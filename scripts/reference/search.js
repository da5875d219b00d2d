/*
 * The search. Its index is a script, because a page opened from a file must not fetch
 * data. The script is loaded at the first search. An entry is [kind, name, page, address,
 * words].
 */
"use strict";

/* Return the score of each word of a query for an entry; 0 if the word does not occur. */
function worth(word, entry) {
    const [kind, name, page, , words] = entry;
    const inName = name.toLowerCase().indexOf(word);
    const isSymbol = kind !== "text";

    if (isSymbol && name.toLowerCase() === word)
        return 1000;
    if (inName === 0 || (isSymbol && name.toLowerCase() === "coil_" + word))
        return isSymbol ? 300 : 150;
    if (inName > 0)
        return isSymbol ? 100 : 80;
    if (page.toLowerCase().includes(word))
        return 30;
    const found = words.toLowerCase().split(word).length - 1;
    return found === 0 ? 0 : 5 + Math.min(found, 10);
}

/* Return the entries that contain every word of the query, the best first. */
function search(index, query) {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length === 0)
        return [];
    const found = [];
    for (const entry of index) {
        const worths = words.map((word) => worth(word, entry));
        if (worths.every((each) => each > 0))
            found.push([worths.reduce((a, b) => a + b), entry]);
    }
    found.sort((a, b) => b[0] - a[0] || a[1][1].length - b[1][1].length);
    return found.map(([, entry]) => entry);
}

/* Return the text around the first match. */
function excerpt(words, query) {
    const first = query.toLowerCase().split(/\s+/).filter((word) => word !== "")[0];
    const at = Math.max(0, words.toLowerCase().indexOf(first) - 60);
    const from = at === 0 ? 0 : words.indexOf(" ", at) + 1;
    return (from > 0 ? "… " : "") + words.slice(from, from + 200) +
           (words.length > from + 200 ? " …" : "");
}

function install() {
    const root = document.currentScript.dataset.root;
    const input = document.querySelector("input[name=q]");
    const results = document.getElementById("results");
    const article = document.querySelector("article");
    let index = null;

    window.coilIndex = (entries) => {
        index = entries;
        show();
    };

    function load() {
        if (index !== null || document.getElementById("index"))
            return;
        const script = document.createElement("script");
        script.id = "index";
        script.src = root + "index.js";
        document.head.append(script);
    }

    function item([kind, name, page, address, words]) {
        const link = document.createElement("a");
        const where = document.createElement("span");
        const text = document.createElement("p");
        const entry = document.createElement("li");
        link.href = root + address;
        link.textContent = kind === "function" ? name + "()" : name;
        where.textContent = kind === "text" ? page : kind + " of " + page;
        text.textContent = excerpt(words, input.value);
        entry.append(link, " ", where, text);
        return entry;
    }

    function show() {
        const query = input.value.trim();
        article.hidden = query !== "";
        results.hidden = query === "";
        if (query === "" || index === null)
            return;
        const found = search(index, query);
        const title = document.createElement("h1");
        const list = document.createElement("ol");
        title.textContent = found.length === 1 ? "1 place" : found.length + " places";
        list.append(...found.slice(0, 60).map(item));
        results.replaceChildren(title, list);
    }

    input.addEventListener("focus", load);
    input.addEventListener("input", show);
    input.form.addEventListener("submit", (event) => {
        const first = results.querySelector("a");
        event.preventDefault();
        if (first !== null)
            location.href = first.href;
    });
    /* For a result on the page that is already open. */
    results.addEventListener("click", (event) => {
        if (event.target.closest("a") !== null) {
            input.value = "";
            show();
        }
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && document.activeElement !== input) {
            event.preventDefault();
            input.focus();
        } else if (event.key === "Escape" && document.activeElement === input) {
            input.value = "";
            show();
            input.blur();
        }
    });

    /*
     * On a wide screen the list of pages is open at first. Without this script the reader
     * can open it.
     */
    const all = document.querySelector("details.all");
    const wide = window.matchMedia("(min-width: 60rem)");
    all.open = wide.matches;
    wide.addEventListener("change", () => { all.open = wide.matches; });
    const here = document.querySelector(".side [aria-current]");
    if (wide.matches && here !== null) {
        const side = document.querySelector(".side");
        side.scrollTop = here.offsetTop - side.offsetTop - side.clientHeight / 2;
    }

    const query = new URLSearchParams(location.search).get("q");
    if (query !== null) {
        input.value = query;
        load();
        show();
    }
}

if (typeof module !== "undefined")
    module.exports = { search, excerpt };
else
    install();
