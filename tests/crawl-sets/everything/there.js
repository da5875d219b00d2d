// <a href=missing/js>
