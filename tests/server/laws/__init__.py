"""What has to hold on the real API server for whatever blueprint there is."""
